import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import avsc from 'avsc';
import type { SchemaRegistryServer } from '../../stack/schema-registry.ts';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { registryProxy } from '../support/registry-proxy.ts';
import { framed, registerSchema, schemaRegistry } from '../support/schema-registry.ts';
import { randomName } from '../support/services.ts';
import { watch } from '../support/stock-client.ts';
import { spawnPod } from '../end-to-end/pod-process.ts';
import { startPod } from '../end-to-end/pod-server.ts';
import { podSettings } from '../end-to-end/pod-settings.ts';

/** A record with the number of an order. Its documentation tells schemas apart. */
function schemaOf(doc: string): string {
  return JSON.stringify({ type: 'record', name: 'Order', doc, fields: [{ name: 'id', type: 'int' }] });
}

const TYPE = avsc.Type.forSchema(JSON.parse(schemaOf('')) as avsc.Schema);
const order = (schema: number, id: number) => framed(schema, TYPE.toBuffer({ id }));

describe('records whose schema alone cannot be had', () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));
  const stops: (() => Promise<void>)[] = [];
  let registry: SchemaRegistryServer;
  before(async () => (registry = await schemaRegistry({ after: (stop) => stops.push(stop) })));
  after(async () => {
    for (const stop of stops) await stop();
  });

  async function settingsFor(t: TestContext, url: string, topics: readonly string[]) {
    const fields = topics.map((topic, i) => `order${i}: Order @kafka(topic: "${topic}")`).join(' ');
    const schema = `type Order { id: Int } type Subscription { ${fields} }`;
    return {
      ...(await podSettings(t, outside.brokers, schema)),
      KAFKA_FROM_BEGINNING: 'true',
      SCHEMA_REGISTRY_URL: url,
    };
  }

  const register = (doc: string) => registerSchema(registry.url, randomName(), { schema: schemaOf(doc) });

  it('go to the dead-letter topic if the schema exceeds 4 MB, and stop a topic that has no others (S-101)', async (t) => {
    const [topic, hopeless] = [await outside.createTopic(undefined, 1), await outside.createTopic(undefined, 1)];
    const [small, large] = [await register(randomName()), await register(`${randomName()} ${'x'.repeat(4_194_304)}`)];
    const settings = await settingsFor(t, registry.url, [topic, hopeless]);
    const pod = await spawnPod(t, settings).started();
    const orders = watch(t, pod.url, 'subscription { order0 { id } }');
    await pod.counts('crier_channels', 1);
    await outside.sendValues(topic, [
      order(small, 1),
      ...Array.from({ length: 150 }, () => order(large, 0)),
      order(small, 2),
    ]);
    await orders.event(2, 30_000);
    assert.deepEqual(orders.events, [{ order0: { id: 1 } }, { order0: { id: 2 } }]);
    await pod.counts(`crier_poison_records_total{topic="${topic}",reason="unusable_schema"}`, 150);
    const [line] = pod.lines.filter(({ msg }) => msg === 'a schema cannot be used');
    assert.deepEqual([line?.['topic'], line?.['schema']], [topic, large]);
    assert.match(JSON.stringify(line?.['err']), /answers \/schemas\/ids\/\d+ with more than 4194304 bytes/);

    await outside.sendValues(
      hopeless,
      Array.from({ length: 150 }, () => order(large, 0)),
    );
    await pod.counts('crier_stopped_partitions', 1);
    assert.match(
      JSON.stringify((await pod.readiness()).body['waiting_partitions']),
      /"error":"each of the first \d+ records is undecodable \(unusable_schema: Confluent's header, with schema \d+\); the log says why/,
    );
    assert.equal(await outside.committed(settings.KAFKA_GROUP_ID, hopeless), 0);
  });

  it('wait, and no other partition with them, while the registry fails for their schema only', async (t) => {
    const [topic, other] = [await outside.createTopic(undefined, 1), await outside.createTopic(undefined, 1)];
    const { url, answers } = await registryProxy(t, registry.url);
    const settings = await settingsFor(t, url, [topic, other]);
    const pod = await spawnPod(t, settings).started();
    const orders = watch(t, pod.url, 'subscription { order0 { id } }');
    const others = watch(t, pod.url, 'subscription { order1 { id } }');
    await pod.counts('crier_channels', 2);
    const failing = await register(randomName());
    const body = '{"error_code":50001,"message":"Error in the backend data store"}';
    answers.set(`/schemas/ids/${failing}`, { status: 500, body });
    await outside.sendValues(topic, [order(await register(randomName()), 1), order(failing, 2)]);
    const error = `the schema registry ${url} answers /schemas/ids/${failing} with status 500: "Error in the backend data store"`;
    await pod.reports({
      waiting_partitions: [{ topic, partition: 0, for: 'schema registry', schema: failing, error }],
    });
    const paused = ({ msg }: { readonly msg: string }) => msg.startsWith('a partition is paused');
    const linesOf = () => pod.lines.filter(paused).map(({ topic: of, schema, err }) => ({ of, schema, err }));
    await pod.until('the line', () => linesOf().length > 0);
    assert.deepEqual(linesOf(), [{ of: topic, schema: failing, err: { message: error } }]);

    for (let id = 1; id <= 20; id++) {
      await outside.sendValues(other, [order(await register(randomName()), id)]);
      await others.event(id, 30_000);
    }
    assert.equal(linesOf().length, 1);
    assert.ok((await outside.committed(settings.KAFKA_GROUP_ID, topic)) <= 1);

    answers.clear();
    await orders.event(2, 30_000);
    assert.deepEqual(orders.events, [{ order0: { id: 1 } }, { order0: { id: 2 } }]);
    await pod.reports({ waiting_partitions: [] });
    assert.equal(await pod.metric('crier_poison_records_total'), 0);
  });

  it('wait, and no other partition with them, while the registry does not answer for their schema', async (t) => {
    const [topic, other] = [await outside.createTopic(undefined, 1), await outside.createTopic(undefined, 1)];
    const { url, answers } = await registryProxy(t, registry.url);
    // Longer than the test waits for an event.
    const settings = { ...(await settingsFor(t, url, [topic, other])), SCHEMA_REGISTRY_TIMEOUT_MS: '60000' };
    const pod = await startPod(t, settings);
    const others = watch(t, pod.url, 'subscription { order1 { id } }');
    await pod.counts('crier_channels', 1);
    const schema = await register(randomName());
    answers.set(`/schemas/ids/${schema}`, 'none');
    await outside.sendValues(topic, [order(schema, 1)]);
    const error = 'the schema registry has not answered yet';
    await pod.reports({ waiting_partitions: [{ topic, partition: 0, for: 'schema registry', schema, error }] });
    for (let id = 1; id <= 5; id++) {
      await outside.sendValues(other, [order(await register(randomName()), id)]);
      await others.event(id, 30_000);
    }
  });

  it('are named in the log one schema after the other, with the answer of the registry', async (t) => {
    const [topic, other] = [await outside.createTopic(undefined, 1), await outside.createTopic(undefined, 1)];
    const { url, answers } = await registryProxy(t, registry.url);
    const settings = { ...(await settingsFor(t, url, [topic, other])), SCHEMA_REGISTRY_TIMEOUT_MS: '1000' };
    const pod = await startPod(t, settings);
    const [first, second] = [await register(randomName()), await register(randomName())];
    answers.set(`/schemas/ids/${first}`, { status: 502, body: '<html>' });
    answers.set(`/schemas/ids/${second}`, 'none');
    const named = () =>
      pod.lines
        .filter(({ msg }) => msg.startsWith('a partition is paused'))
        .map(({ schema, err }) => ({ schema, err }));
    await outside.sendValues(topic, [order(first, 1)]);
    await pod.until('a line', () => named().length > 0);
    await outside.sendValues(other, [order(second, 1)]);
    await pod.until('another line', () => named().length > 1);
    assert.deepEqual(named(), [
      {
        schema: first,
        err: { message: `the schema registry ${url} answers /schemas/ids/${first} with status 502; its log says why` },
      },
      {
        schema: second,
        err: { message: `the schema registry ${url} has not answered /schemas/ids/${second} within 1000 ms` },
      },
    ]);
  });
});
