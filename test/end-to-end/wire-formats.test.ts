import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { startPod } from './pod-server.ts';
import { podSettings } from './pod-settings.ts';

const AVRO = Buffer.from('0e68756e7465723200ff02', 'hex');
const ID = '0123456789abcdef0123456789abcdef';

interface Foreign {
  readonly prefix?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly found: string;
  readonly fix: string;
}

/** By a name for the topic: records of registries that crier does not ask. */
const FOREIGN: Readonly<Record<string, Foreign>> = {
  glue: {
    prefix: `0300${ID}`,
    found: "AWS Glue's header, with schema version 01234567-89ab-cdef-0123-456789abcdef",
    fix: 'npm install @aws-sdk/client-glue',
  },
  azure: {
    headers: { 'content-type': `avro/binary+${ID}` },
    found: "a schema id of Azure's Schema Registry",
    fix: "have the producer write Confluent's wire format",
  },
  cloudera: {
    prefix: `01${'00'.repeat(7)}0400000002`,
    found: "the header of Cloudera's serializers",
    fix: 'serdes.protocol.version=0',
  },
  spring: {
    headers: { contentType: '"application/vnd.order.v1+avro"' },
    found: 'a schema that Spring Cloud Stream names',
    fix: 'useNativeEncoding: true',
  },
  confluent: { prefix: '0000000007', found: "Confluent's header, with schema 7", fix: 'set SCHEMA_REGISTRY_URL' },
  guid: { headers: { __value_schema_id: 'x' }, found: 'the header __value_schema_id', fix: 'set SCHEMA_REGISTRY_URL' },
  apicurio: { prefix: '000000000000000007', found: 'an id of 8 bytes, as Apicurio', fix: 'set SCHEMA_REGISTRY_URL' },
  bare: { found: 'binary data without a header', fix: "have the producer write its schema's id" },
};

describe('records of registries that crier does not ask', () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  it('are named as what they are, with the fix, in the log, dead letters and /readyz (B-6, B-7)', async (t) => {
    const topics = new Map<string, string>();
    for (const name of Object.keys(FOREIGN)) topics.set(name, await outside.createTopic(undefined, 1));
    const fields = [...topics].map(([name, topic]) => `${name}: Row @kafka(topic: "${topic}")`).join('\n');
    const settings = {
      ...(await podSettings(t, outside.brokers, `type Row { id: ID } type Subscription { ${fields} }`)),
      KAFKA_FROM_BEGINNING: 'true',
    };
    const of = ({ prefix = '', headers = {} }: Foreign) => ({
      value: Buffer.concat([Buffer.from(prefix, 'hex'), AVRO]),
      headers,
    });
    for (const [name, topic] of topics)
      await outside.send(
        topic,
        Array.from({ length: 200 }, () => of(FOREIGN[name]!)),
      );
    const stopping = await startPod(t, settings);
    await stopping.counts('crier_stopped_partitions', topics.size);
    const { body } = await stopping.readiness();
    const waiting = body['waiting_partitions'] as { topic: string; error: string }[];
    for (const [name, { found, fix }] of Object.entries(FOREIGN)) {
      const { error } = waiting.find(({ topic }) => topic === topics.get(name))!;
      assert.ok(error.includes(found) && error.includes(fix), `${name}: ${error}`);
      const logged = stopping.lines.filter(
        ({ msg, topic }) => topic === topics.get(name) && msg.startsWith('the topic is stopped'),
      );
      assert.equal(logged.length, 1);
      assert.ok(JSON.stringify(logged).includes(found.replaceAll('"', '\\"')), name);
    }
    assert.doesNotMatch(JSON.stringify(waiting), /hunter2/);
    await stopping.stop();

    const pod = await startPod(t, { ...settings, UNDECODABLE_LIMIT: '0' });
    await pod.counts('crier_stopped_partitions', 0);
    const dead = await outside.readAll(settings.KAFKA_DEAD_LETTER_TOPIC, topics.size * 200);
    for (const [name, topic] of topics) {
      const headers = dead.find((record) => String(record.headers?.['crier-topic']) === topic)?.headers;
      assert.ok(
        String(headers?.['crier-found']).includes(FOREIGN[name]!.found),
        `${name}: ${String(headers?.['crier-found'])}`,
      );
    }
  });
});
