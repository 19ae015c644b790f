import assert from 'node:assert/strict';
import { symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { GLUE_RECORDS } from '../kafka/decoding/glue/glue-records.ts';
import { GLUE_PROJECT, awsEnvironment, installGlueSdk } from '../kafka/decoding/glue/glue-sdk.ts';
import { startGlueServer } from '../kafka/decoding/glue/glue-server.ts';
import type { GlueServer } from '../kafka/decoding/glue/glue-server.ts';
import { checked } from '../ops/check/checked.ts';
import { watch } from '../support/stock-client.ts';
import { startPod } from './pod-server.ts';
import { podSettings } from './pod-settings.ts';

const QUERY = 'subscription { row { order_id no } }';
const AVRO = GLUE_RECORDS[0]!;

describe('records of AWS Glue', () => {
  let outside: Outside;
  let glue: GlueServer;
  withOutside((connected) => (outside = connected));
  before(async () => {
    installGlueSdk();
    glue = await startGlueServer();
    // The SDK reads it in the process of this test.
    Object.assign(process.env, awsEnvironment(glue.url));
  });
  after(() => glue.close());

  function register(): void {
    for (const { version, format, schema } of GLUE_RECORDS)
      glue.answers.set(version, { DataFormat: format, SchemaDefinition: schema });
  }

  /** Of a graph that has AWS's SDK beside it. */
  async function settingsFor(t: TestContext, topic: string, format = '') {
    const schema = `type Row { order_id: Int no: Int } type Subscription { row: Row @kafka(topic: "${topic}"${format}) }`;
    const settings = await podSettings(t, outside.brokers, schema);
    await symlink(resolve(GLUE_PROJECT, 'node_modules'), join(settings.GRAPH, 'node_modules'));
    return { ...settings, KAFKA_FROM_BEGINNING: 'true', SCHEMA_REGISTRY_TIMEOUT_MS: '1000' };
  }

  it('arrive without a setting, beside JSON, and those of an unknown schema are dead letters (B-7)', async (t) => {
    register();
    const topic = await outside.createTopic(undefined, 1);
    const pod = await startPod(t, await settingsFor(t, topic));
    const rows = watch(t, pod.url, QUERY);
    await pod.counts('crier_channels', 1);
    const unknown = Buffer.concat([Buffer.of(3, 0), Buffer.alloc(16, 0x41), Buffer.of(2)]);
    const values = GLUE_RECORDS.flatMap(({ raw, zlib }) => [raw, zlib]);
    await outside.sendValues(topic, [...values, Buffer.from('{"orderId":8}'), unknown, AVRO.raw]);
    await rows.event(values.length + 2, 60_000);
    const ids = rows.events.map(({ row }) =>
      Object.values(row as Record<string, number | null>).filter((value) => value !== null),
    );
    assert.deepEqual(ids, [...values.map(() => [7]), [8], [7]]);
    await pod.counts(`crier_poison_records_total{topic="${topic}",reason="unknown_schema"}`, 1);
    assert.equal(new Set(glue.asked).size, 4);
  });

  it('do not stop a topic of JSON for what only looks like them: /readyz says how to send it to the dead letters', async (t) => {
    const junk = Buffer.concat([Buffer.of(3, 0), Buffer.alloc(20, 0x42)]);
    glue.answers.set('42424242-4242-4242-4242-424242424242', { __type: 'AccessDeniedException', message: 'no right' });
    const topic = await outside.createTopic(undefined, 1);
    await outside.sendValues(topic, [Buffer.from('{"orderId":8}'), junk, Buffer.from('{"orderId":9}')]);
    const settings = await settingsFor(t, topic);
    const stopped = await startPod(t, settings);
    await stopped.counts('crier_schema_waiting_partitions', 1);
    const [wait] = (await stopped.readiness()).body['waiting_partitions'] as { error: string }[];
    assert.match(wait!.error, /refuses the credentials .* if the records are JSON, say format: JSON in @kafka$/);
    await stopped.stop();
    const { GRAPH } = await settingsFor(t, topic, ', format: JSON');
    const pod = await startPod(t, { ...settings, GRAPH });
    await pod.counts(`crier_poison_records_total{topic="${topic}",reason="needs_registry"}`, 1);
    const rows = watch(t, pod.url, QUERY);
    await pod.counts('crier_channels', 1);
    await outside.sendValues(topic, [Buffer.from('{"orderId":10}')]);
    await rows.event(1);
    assert.deepEqual(rows.events.at(-1), { row: { order_id: 10, no: null } });
  });

  it('wait while Glue refuses, which /readyz and crier check name, and lose nothing', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const settings = await settingsFor(t, topic, ', format: AVRO');
    glue.answers.set(AVRO.version, { __type: 'AccessDeniedException', message: 'no right' });
    const pod = await startPod(t, settings);
    const rows = watch(t, pod.url, QUERY);
    await pod.counts('crier_channels', 1);
    await outside.sendValues(topic, [AVRO.raw, AVRO.zlib]);
    await pod.counts('crier_schema_waiting_partitions', 1);
    const { body } = await pod.readiness();
    const reason =
      'AWS Glue refuses the credentials of AWS (AccessDeniedException: "no right"); allow glue:GetSchemaVersion';
    const waiting = { topic, partition: 0, for: 'schema registry', schema: `glue/${AVRO.version}` };
    const [wait] = body['waiting_partitions'] as { error: string }[];
    assert.deepEqual({ ...wait, error: undefined }, { ...waiting, error: undefined });
    assert.ok(wait!.error.startsWith(reason), wait!.error);
    const check = await checked(settings);
    assert.ok(
      check.hasFailed && check.lines.some((line) => line.includes(`schema registry: ${reason}`)),
      check.lines.join('\n'),
    );
    register();
    await rows.event(2, 30_000);
    assert.deepEqual(
      rows.events.map(({ row }) => row),
      [7, 7].map((id) => ({ order_id: id, no: null })),
    );
    assert.equal((await checked(settings)).hasFailed, false);
    assert.equal(await pod.metric('crier_poison_records_total'), 0);
  });
});
