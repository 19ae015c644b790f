import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import avsc from 'avsc';
import { startSchemaRegistry } from '../../stack/schema-registry.ts';
import type { SchemaRegistryServer } from '../../stack/schema-registry.ts';
import { recipeOfPage } from '../docs/recipe.ts';
import { checked } from '../ops/check/checked.ts';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { registryProxy } from '../support/registry-proxy.ts';
import { framed, globalId, registerSchema, schemaRegistry } from '../support/schema-registry.ts';
import { randomName } from '../support/services.ts';
import { watch } from '../support/stock-client.ts';
import type { Watch } from '../support/stock-client.ts';
import { startPod, startRefusal } from './pod-server.ts';
import { podSettings } from './pod-settings.ts';

const FIRST = avroRecord([
  { name: 'orderId', type: 'int' },
  { name: 'totalCents', type: 'long' },
]);
const SECOND = avroRecord([
  { name: 'note', type: ['null', 'string'], default: null },
  { name: 'orderId', type: 'int' },
  { name: 'totalCents', type: 'long' },
]);
const PROTO = 'syntax = "proto3"; message Order { int32 order_id = 1; string note = 3; }';
/** Of PROTO: message 0 of the file, order_id 3, note "p". */
const PROTO_BYTES = Buffer.from([0, 0x08, 3, 0x1a, 1, 0x70]);

function avroRecord(fields: readonly object[]): string {
  return JSON.stringify({ type: 'record', name: 'Order', fields });
}

function avro(schema: string, order: object): Buffer {
  return avsc.Type.forSchema(JSON.parse(schema) as avsc.Schema).toBuffer(order);
}

/** Of test/cdc/write-records.ts: keys and values are base64. */
interface AvroRecording {
  readonly schemas: Readonly<Record<string, object>>;
  readonly records: readonly { readonly topic: string; readonly key: string | null; readonly value: string | null }[];
}

const QUERY = 'subscription { order { order_id total_cents note } }';

describe('records with schemas', () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));
  const stops: (() => Promise<void>)[] = [];
  let registry: SchemaRegistryServer;
  before(async () => (registry = await schemaRegistry({ after: (stop) => stops.push(stop) })));
  after(async () => {
    for (const stop of stops) await stop();
  });

  async function settingsFor(t: TestContext, topic: string, format = '', fields = 'note: String') {
    const schema = `type Order { order_id: Int total_cents: String ${fields} }
      type Subscription { order: Order @kafka(topic: "${topic}" ${format}) }`;
    return {
      ...(await podSettings(t, outside.brokers, schema)),
      KAFKA_FROM_BEGINNING: 'true',
      SCHEMA_REGISTRY_URL: registry.url,
      SCHEMA_REGISTRY_TIMEOUT_MS: '1000',
    };
  }

  it('and keys with schemas, as Debezium writes them in Avro, are changes of rows in the graph of the recipe', async (t) => {
    const file = join('test', 'kafka', 'fixtures', 'change-records', 'avro.json');
    const { schemas, records } = JSON.parse(await readFile(file, 'utf8')) as AvroRecording;
    const ids = new Map<number, number>();
    for (const [id, schema] of Object.entries(schemas)) {
      ids.set(Number(id), await registerSchema(registry.url, randomName(), { schema: JSON.stringify(schema) }));
    }
    const bytesOf = (text: string | null) => {
      if (text === null) return null;
      const bytes = Buffer.from(text, 'base64');
      return framed(ids.get(bytes.readUInt32BE(1))!, bytes.subarray(5));
    };
    const topic = await outside.createTopic(undefined, 1);
    const { graph } = recipeOfPage('Avro with a registry');
    const pod = await startPod(t, {
      ...(await podSettings(t, outside.brokers, graph.replaceAll('shop.public.rows', topic))),
      SCHEMA_REGISTRY_URL: registry.url,
    });
    const watched = ['7', '8', '9007199254740993'].map((id) =>
      watch(t, pod.url, `subscription { row(id: "${id}") { id customer amount updated op } }`),
    );
    await pod.counts('crier_channels', 3);
    await outside.send(
      topic,
      records
        .filter((record) => record.topic === 'avro.public.rows')
        .map(({ key, value }) => ({ partition: 0, key: bytesOf(key), value: bytesOf(value) })),
    );
    const [seven, eight, big] = watched as [Watch, Watch, Watch];
    await Promise.all([seven.event(4, 30_000), eight.event(2, 30_000), big.event(1, 30_000)]);
    const row = (id: string, customer: string, op: string) => ({
      row: { id, customer, amount: '12.50', updated: '2026-01-02T03:04:05.678901Z', op },
    });
    assert.deepEqual(seven.events, [
      row('7', 'c1', 'CREATE'),
      row('7', 'c1', 'UPDATE'),
      row('7', 'c2', 'UPDATE'),
      { row: null },
    ]);
    assert.deepEqual(eight.events, [row('8', 'c2', 'CREATE'), { row: null }]);
    assert.deepEqual(big.events, [
      { row: { id: '9007199254740993', customer: 'c2', amount: null, updated: null, op: 'CREATE' } },
    ]);
  });

  it('arrive, whatever of Avro, Protobuf, JSON Schema and JSON each of them is, and while their schema changes', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const subject = `${topic}-value`;
    const pod = await startPod(t, await settingsFor(t, topic));
    const orders = watch(t, pod.url, QUERY);
    await pod.counts('crier_channels', 1);
    const first = await registerSchema(registry.url, subject, { schema: FIRST });
    await outside.sendValues(topic, [framed(first, avro(FIRST, { orderId: 1, totalCents: 2 ** 52 }))]);
    await orders.event(1, 30_000);
    const second = await registerSchema(registry.url, subject, { schema: SECOND });
    const json = '{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}';
    const ofJson = await registerSchema(registry.url, randomName(), { schemaType: 'JSON', schema: json });
    const ofProto = await registerSchema(registry.url, randomName(), { schemaType: 'PROTOBUF', schema: PROTO });
    await outside.sendValues(topic, [
      framed(second, avro(SECOND, { note: 'n', orderId: 2, totalCents: 5 })),
      framed(first, avro(FIRST, { orderId: 3, totalCents: 6 })),
      framed(ofProto, PROTO_BYTES),
      framed(ofJson, Buffer.from('{"orderId":4,"note":"s"}')),
      Buffer.from('{"orderId":5,"note":"j"}'),
    ]);
    await orders.event(6, 30_000);
    assert.deepEqual(
      orders.events.map((event) => event['order']),
      [
        { order_id: 1, total_cents: '4503599627370496', note: null },
        { order_id: 2, total_cents: '5', note: 'n' },
        { order_id: 3, total_cents: '6', note: null },
        { order_id: 3, total_cents: null, note: 'p' },
        { order_id: 4, total_cents: null, note: 's' },
        { order_id: 5, total_cents: null, note: 'j' },
      ],
    );
    assert.equal(await pod.metric('crier_poison_records_total'), 0);
  });

  it('arrive, however each of them names its schema', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const bare = await outside.createTopic(undefined, 1);
    const { origin } = new URL(registry.url);
    const proxy = await registryProxy(t, origin);
    const guid = '89791762-2336-4186-9674-299b90a802e2';
    proxy.answers.set(`/apis/ccompat/v7/schemas/guids/${guid}`, {
      status: 200,
      body: JSON.stringify({ schema: FIRST }),
    });
    // As RecordNameStrategy and TopicRecordNameStrategy name them.
    const id = await registerSchema(registry.url, 'com.example.Order', { schema: SECOND });
    const subject = `${bare}-com.example.Order`;
    await registerSchema(registry.url, subject, { schema: SECOND });
    const schema = `type Order { order_id: Int total_cents: String note: String }
      type Subscription {
        order: Order @kafka(topic: "${topic}")
        bare: Order @kafka(topic: "${bare}", format: AVRO, subject: "${subject}")
      }`;
    const pod = await startPod(t, {
      ...(await podSettings(t, outside.brokers, schema)),
      KAFKA_FROM_BEGINNING: 'true',
      SCHEMA_REGISTRY_URL: `${proxy.url}/apis/ccompat/v7`,
    });
    const orders = watch(t, pod.url, QUERY);
    const bareOrders = watch(t, pod.url, QUERY.replace('order {', 'bare {'));
    await pod.counts('crier_channels', 2);

    const of = (orderId: number) => avro(SECOND, { note: null, orderId, totalCents: 1 });
    const longId = Buffer.alloc(9);
    longId.writeUInt32BE(await globalId(registry.url, subject), 5);
    const guidHeader = Buffer.from(`01${guid.replaceAll('-', '')}`, 'hex');
    const value = (bytes: Buffer | string, headers = {}) => ({ value: bytes, headers });
    await outside.send(topic, [
      value(avro(FIRST, { orderId: 1, totalCents: 1 }), { __value_schema_id: guidHeader }),
      value(Buffer.concat([longId, of(2)])),
      value(of(3), { 'apicurio.value.globalId': longId.subarray(1) }),
      value(framed(id, of(4))),
      value('{"orderId":5}'),
    ]);
    await outside.sendValues(bare, [of(6)]);
    await orders.event(5, 30_000);
    await bareOrders.event(1, 30_000);
    assert.deepEqual(
      [...orders.events, ...bareOrders.events].map((event) => (event['order'] ?? event['bare']) as object),
      [
        { order_id: 1, total_cents: '1', note: null },
        ...[2, 3, 4].map((orderId) => ({ order_id: orderId, total_cents: '1', note: null })),
        { order_id: 5, total_cents: null, note: null },
        { order_id: 6, total_cents: '1', note: null },
      ],
    );
    assert.equal(await pod.metric('crier_poison_records_total'), 0);
  });

  it('wait while the registry is away, and lose nothing when it is back', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    let server = await startSchemaRegistry();
    t.after(() => server.stop());
    const { port, url } = server;
    const settings = { ...(await settingsFor(t, topic)), SCHEMA_REGISTRY_URL: url };
    const pod = await startPod(t, settings);
    const orders = watch(t, pod.url, QUERY);
    await pod.counts('crier_channels', 1);
    const first = await registerSchema(url, `${topic}-value`, { schema: FIRST });
    await outside.sendValues(topic, [framed(first, avro(FIRST, { orderId: 0, totalCents: 1 }))]);
    await orders.event(1, 30_000);
    const second = await registerSchema(url, `${topic}-value`, { schema: SECOND });
    await server.kill();

    const of = (orderId: number) => framed(second, avro(SECOND, { note: null, orderId, totalCents: 1 }));
    // A schema that is known already needs no registry.
    await outside.sendValues(topic, [framed(first, avro(FIRST, { orderId: 1, totalCents: 1 })), ...[2, 3, 4].map(of)]);
    const details = async () => {
      const { status, body } = await pod.readiness();
      return status === 200 ? JSON.stringify(body['waiting_partitions']) : '';
    };
    const waiting = `{"topic":"${topic}","partition":0,"for":"schema registry","schema":${second},"error":"the schema registry ${url} `;
    await pod.until('the wait', async () => (await details()).startsWith(`[${waiting}`));
    await pod.counts('crier_schema_waiting_partitions', 1);
    await orders.event(2, 30_000);
    assert.ok((await outside.committed(settings.KAFKA_GROUP_ID, topic)) <= 2);

    server = await startSchemaRegistry({ port });
    await registerSchema(url, `${topic}-value`, { schema: FIRST });
    assert.equal(await registerSchema(url, `${topic}-value`, { schema: SECOND }), second);
    await orders.event(5, 60_000);
    assert.deepEqual(
      orders.events.map((event) => (event['order'] as { order_id: number }).order_id),
      [0, 1, 2, 3, 4],
    );
    await pod.reports({ waiting_partitions: [] });
    assert.equal(await pod.metric('crier_poison_records_total'), 0);
    assert.equal(pod.lines.filter(({ msg }) => msg.startsWith('a partition is paused')).length, 1);
  });

  it('go to the dead-letter topic if a producer made up the ids of their schemas, and hold up the topic for 5 s at most (S-100)', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const settings = await settingsFor(t, topic);
    const pod = await startPod(t, settings);
    const orders = watch(t, pod.url, QUERY);
    await pod.counts('crier_channels', 1);
    const id = await registerSchema(registry.url, `${topic}-value`, { schema: FIRST });
    const good = framed(id, avro(FIRST, { orderId: 1, totalCents: 1 }));
    await outside.sendValues(topic, [good]);
    await orders.event(1, 30_000);
    const madeUp = Array.from({ length: 500 }, (_, i) => framed(1_000_000 + i, Buffer.from('x')));
    const startedAt = performance.now();
    await outside.sendValues(topic, [...madeUp, good]);
    await orders.event(2, 30_000);
    t.diagnostic(`${Math.round(performance.now() - startedAt)} ms`);
    await pod.counts(`crier_poison_records_total{topic="${topic}",reason="unknown_schema"}`, 500);
    await orders.event(2, 30_000);
  });

  it('stop their topic without a registry, and say how to go on', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const settings = { ...(await settingsFor(t, topic)), SCHEMA_REGISTRY_URL: '' };
    const record = framed(1, avro(FIRST, { orderId: 1, totalCents: 1 }));
    await outside.sendValues(
      topic,
      Array.from({ length: 300 }, () => record),
    );
    const pod = await startPod(t, settings);
    await pod.counts('crier_stopped_partitions', 1);
    const { status, body } = await pod.readiness();
    assert.equal(status, 200);
    assert.match(
      JSON.stringify(body['waiting_partitions']),
      /"error":"each of the first 300 records is undecodable \(needs_registry: Confluent's header, with schema 1\); set SCHEMA_REGISTRY_URL.*"for":"a corrected configuration"/,
    );
    assert.equal(await outside.committed(settings.KAFKA_GROUP_ID, topic), 0);
    assert.equal(await pod.metric('crier_poison_records_total'), 0);
    assert.equal(
      pod.lines.filter(({ level, msg }) => level === 'error' && msg.startsWith('the topic is stopped')).length,
      1,
    );

    // The same group with a registry: nothing was lost.
    await pod.stop();
    const corrected = await startPod(t, { ...settings, SCHEMA_REGISTRY_URL: registry.url, UNDECODABLE_LIMIT: '0' });
    await corrected.counts(`crier_records_consumed_total{topic="${topic}"}`, 300);
  });

  it('are refused at the start if their format needs a registry that is not set', async (t) => {
    const settings = { ...(await settingsFor(t, randomName(), ', format: AVRO')), SCHEMA_REGISTRY_URL: '' };
    const refusal = await startRefusal(t, settings);
    assert.match(refusal, /Subscription\.order: format: AVRO needs SCHEMA_REGISTRY_URL, which is not set/);
    const { hasFailed, lines } = await checked(settings);
    assert.equal(hasFailed, true);
    assert.match(lines.join('\n'), /failed +Subscription\.order: format: AVRO needs SCHEMA_REGISTRY_URL/);
  });

  it('are compared with the graph at the start, and by crier check', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const settings = await settingsFor(t, topic, ', format: AVRO', 'city: String');
    await registerSchema(registry.url, `${topic}-value`, { schema: SECOND });
    const pod = await startPod(t, settings);
    await pod.until(
      'the comparison',
      () => pod.lines.filter((line) => line['subject'] === `${topic}-value`).length === 2,
    );
    const compared = pod.lines.filter((line) => line['subject'] === `${topic}-value`);
    assert.deepEqual(
      compared.map(({ level, fields }) => [level, fields]),
      [
        ['warn', ['city']],
        ['info', ['note']],
      ],
    );
    const accepted = (await checked(settings)).lines.join('\n');
    assert.match(accepted, /ok +schema registry: answers, and accepts the credentials/);
    assert.match(
      accepted,
      new RegExp(
        `warning +schema registry: the graph reads fields that the newest schema of ${topic}-value does not have: city`,
      ),
    );
    assert.match(
      accepted,
      new RegExp(`ok +schema registry: fields of ${topic}-value that the graph does not read: note`),
    );
    const away = { ...settings, SCHEMA_REGISTRY_URL: 'http://ann:hunter2@127.0.0.1:1' };
    const failing = await checked(away);
    assert.equal(failing.hasFailed, true);
    assert.match(
      failing.lines.join('\n'),
      /failed +schema registry: the schema registry http:\/\/127\.0\.0\.1:1 cannot be reached: ECONNREFUSED/,
    );
    assert.doesNotMatch(failing.lines.join('\n'), /hunter2/);
    const other = createServer((_, response) => response.end('{"status":"ok"}'));
    t.after(() => other.close());
    await once(other.listen(0, '127.0.0.1'), 'listening');
    const { port } = other.address() as AddressInfo;
    const mistaken = { ...settings, SCHEMA_REGISTRY_URL: `http://127.0.0.1:${port}` };
    const refusing = await checked(mistaken);
    assert.equal(refusing.hasFailed, true);
    assert.match(
      refusing.lines.join('\n'),
      /failed +schema registry: SCHEMA_REGISTRY_URL answers, but is no schema registry/,
    );
  });
});
