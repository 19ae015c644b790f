import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { freePorts, isPortTaken } from '../../stack/port.ts';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { randomName, redisServer } from '../support/services.ts';
import { watch } from '../support/stock-client.ts';
import type { Watch } from '../support/stock-client.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/wait-for.ts';
import { EVERY_FIELD, orderEvent, orderRecord, ordersSchema, ordersSettings } from './orders.ts';
import { spawnPod } from './pod-process.ts';
import { startPod } from './pod-server.ts';
import { kcatProducer } from './producers.ts';

const ANY_ORDER = `subscription { any_order ${EVERY_FIELD} }`;

describe('pods on Kafka and Redis', () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  const settingsFor = async (t: TestContext, topic: string) =>
    ordersSettings(t, { topic, brokers: outside.brokers, redisUrl: (await redisServer(t)).url });

  const write = (topic: string, orderId: string) =>
    kcatProducer(outside.brokers)([{ topic, partition: 0, key: orderId, value: orderRecord(orderId) }]);

  /** Writes records until one arrives, because the protocol does not acknowledge a subscribe. */
  async function writeUntilSeen(topic: string, subscription: Watch): Promise<void> {
    for (let i = 1; subscription.events.length === 0; i++) {
      await write(topic, '7');
      await subscription.event(1, 1000).catch((error: unknown) => {
        if (i === 20 || subscription.failures.length > 0) throw error;
      });
    }
  }

  it('deliver from ROLE=worker through ROLE=gateway, snake_cased, from a graph folder elsewhere that holds only schema.graphql', async (t) => {
    const topic = await outside.createTopic();
    const folder = await temporaryFolder(t);
    await mkdir(join(folder, 'my-graph'));
    await writeFile(join(folder, 'my-graph', 'schema.graphql'), ordersSchema(topic));
    const { KAFKA_BROKERS, ...shared } = await settingsFor(t, topic);
    const settings = { ...shared, GRAPH: './my-graph' };
    const [unused] = (await freePorts(1)) as [number];
    const worker = spawnPod(t, { ...settings, ROLE: 'worker', KAFKA_BROKERS, PORT: `${unused}` }, { folder });
    const gateway = spawnPod(t, { ...settings, ROLE: 'gateway' }, { folder });
    await Promise.all([worker.started(), gateway.started()]);

    assert.match(
      worker.output,
      /^\{.*"role":"worker",.*"graph":"my-graph","isEmbedded":false,"addresses":\{"admin":"[^"]+"\},"msg":"ready"\}\n$/,
    );
    assert.equal(await isPortTaken(unused), false, 'no port for clients');
    assert.deepEqual(
      Object.keys((await gateway.readiness()).body),
      ['graph', 'graph_revision', 'bus', 'away_servers', 'publishing_group', 'failing_backends', 'status'],
      'no Kafka',
    );

    const [order, others] = ['7', '8'].map((id) =>
      watch(t, gateway.url, `subscription { order_updated(order_id: "${id}") ${EVERY_FIELD} }`),
    ) as [Watch, Watch];
    await writeUntilSeen(topic, order);
    assert.deepEqual(order.events[0], { order_updated: orderEvent('7') });
    assert.deepEqual(others.events, []);
    assert.equal(await worker.metric('crier_connections'), 0);
    assert.deepEqual(await Promise.all([worker.stop(), gateway.stop()]), [0, 0]);
    assert.equal(await order.closed(), 1001);
  });

  it('name a topic that does not exist in /readyz, and pick it up with its first record', async (t) => {
    const topic = randomName('late');
    const pod = await startPod(t, await settingsFor(t, topic));
    await pod.reports({ missing_topics: [topic], status: 'ready' });
    assert.equal(pod.lines.filter(({ msg }) => msg.startsWith('topics do not exist')).length, 1);
    const subscription = watch(t, pod.url, ANY_ORDER);
    await pod.counts('crier_channels', 1);
    await outside.createTopic(topic);
    await write(topic, '1');
    assert.deepEqual(await subscription.event(1, 30_000), { any_order: orderEvent('1') });
    await pod.reports({ missing_topics: [], kafka: 'connected' });
  });

  it('send poison of every kind to the dead-letter topic and deliver the next record', async (t) => {
    const topic = await outside.createTopic(undefined, 1);
    const settings = {
      ...(await settingsFor(t, topic)),
      MAX_RECORD_BYTES: '4096',
      MAX_RECORD_DEPTH: '8',
      MAX_INFLATED_BATCH_BYTES: '131072',
    };
    const pod = await startPod(t, settings);
    const subscription = watch(t, pod.url, ANY_ORDER);
    await writeUntilSeen(topic, subscription);
    const poison: readonly (readonly [string, Buffer | string])[] = [
      ['not_json', '{"order": hunter2'],
      ['not_json', ''],
      ['invalid_utf8', Buffer.from([0x7b, 0xff, 0x7d])],
      ['not_object', '"hunter2"'],
      ['not_object', '42'],
      ['not_object', 'null'],
      ['not_object', '["hunter2"]'],
      ['too_large', JSON.stringify({ order: 'hunter2 '.repeat(1000) })],
      ['too_deep', `${'{"hunter2":'.repeat(9)}1${'}'.repeat(9)}`],
    ];
    for (const [, value] of poison) await outside.send(topic, [{ key: 'k', value }]);
    const bomb = Array.from({ length: 3 }, () => ({ value: JSON.stringify({ hunter2: ' '.repeat(90_000) }) }));
    await outside.send(topic, bomb, true);
    await write(topic, 'next');
    const kinds = [...poison.map(([reason]) => reason), ...bomb.map(() => 'batch_too_large')];

    const first = { any_order: orderEvent('7') };
    const others = () => subscription.events.filter((event) => !isDeepStrictEqual(event, first));
    await waitFor('the next record', () => others().length > 0);
    assert.deepEqual(others(), [{ any_order: orderEvent('next') }]);
    const dead = await outside.readAll(settings.KAFKA_DEAD_LETTER_TOPIC, kinds.length);
    const offsetOf = ({ headers }: (typeof dead)[number]) => Number(headers!['crier-offset']);
    dead.sort((a, b) => offsetOf(a) - offsetOf(b));
    assert.deepEqual(
      dead.map(({ headers }) => String(headers!['crier-reason'])),
      kinds,
    );
    for (const [i, { headers, value }] of dead.entries()) {
      assert.equal(String(headers!['crier-topic']), topic);
      const original = poison[i]?.[1] ?? null;
      assert.deepEqual(value, original === null ? null : Buffer.from(original));
    }
    for (const kind of new Set(kinds)) {
      const count = kinds.filter((one) => one === kind).length;
      assert.equal(await pod.metric(`crier_poison_records_total{topic="${topic}",reason="${kind}"}`), count, kind);
    }
    assert.equal(await pod.metric('crier_dead_letter_failures_total'), 0);
    const warnings = pod.lines.filter(({ msg }) => msg.startsWith('poison record not published'));
    assert.deepEqual(warnings.map(({ reason }) => reason).sort(), [...new Set(kinds)].sort(), 'once per window');
    assert.doesNotMatch(pod.log, /hunter2/);
  });
});
