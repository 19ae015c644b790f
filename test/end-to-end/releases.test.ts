import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { randomName, redisServer } from '../support/services.ts';
import { watch } from '../support/stock-client.ts';
import type { Watch } from '../support/stock-client.ts';
import { waitFor } from '../support/wait-for.ts';
import { orderRecord, ordersSettings } from './orders.ts';
import { startPod } from './pod-server.ts';

const PARTITIONS = 4;
/** One for each partition. */
const MARKS = ['mark-0', 'mark-1', 'mark-2', 'mark-3'];
const RECORDS = Array.from({ length: 40 }, (_, i) => `record-${i}`);
const POISON = '"not an object"';
const PATIENCE_MS = 30_000;

/** The settings that the chart derives from the namespace and the name of a release. */
const settingsOf = (scope: string) => ({
  KAFKA_GROUP_ID: scope,
  KAFKA_DEAD_LETTER_TOPIC: `${scope}.dead-letter`,
  CHANNEL_PREFIX: `${scope}:`,
});

/** The ids that a client has received. */
const idsOf = ({ events }: Watch) => events.map(({ any_order }) => (any_order as { order_id: string }).order_id);

describe('two releases on one Kafka and one Redis', () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  it('each deliver every record once, and have their own offsets and dead letters', async (t) => {
    const topic = await outside.createTopic(undefined, PARTITIONS);
    const redis = await redisServer(t);
    const namespace = randomName('releases');
    const settings = await ordersSettings(t, { topic, brokers: outside.brokers, redisUrl: redis.url });
    const start = async (name: string) => {
      const scope = `${namespace}.${name}`;
      const pod = await startPod(t, { ...settings, ...settingsOf(scope) });
      return { scope, pod, client: watch(t, pod.url, 'subscription { any_order { order_id } }') };
    };
    const [one, other] = await Promise.all([start('crier'), start('crier-2')]);
    const both = [one, other];

    let written = 0;
    const send = async (values: readonly string[]) => {
      await outside.send(
        topic,
        values.map((value, i) => ({ partition: i % PARTITIONS, value })),
      );
      written += values.length;
    };
    const committedAll = ({ scope }: typeof one) =>
      waitFor('the commits', async () => (await outside.committed(scope, topic)) === written, PATIENCE_MS);
    // The protocol does not acknowledge a subscribe.
    const hasMarks = ({ client }: typeof one) => MARKS.every((mark) => idsOf(client).includes(mark));
    const openPaths = async () => {
      await send(MARKS.map(orderRecord));
      return both.every(hasMarks);
    };
    await waitFor('a mark of each partition in both releases', openPaths, PATIENCE_MS);

    await send([...RECORDS.map(orderRecord), POISON]);
    await Promise.all(both.map(committedAll));
    for (const { scope, client } of both) {
      const recordsOf = () => idsOf(client).filter((id) => !MARKS.includes(id));
      await waitFor('every record', () => recordsOf().length >= RECORDS.length);
      assert.deepEqual(recordsOf().sort(), [...RECORDS].sort());
      const ends = await outside.ask((admin) => admin.fetchTopicOffsets(`${scope}.dead-letter`));
      assert.equal(
        ends.reduce((sum, { offset }) => sum + Number(offset), 0),
        1,
        'one dead letter',
      );
    }

    await other.pod.stop();
    const committedByOther = await outside.committed(other.scope, topic);
    await send([orderRecord('last')]);
    await committedAll(one);
    await waitFor('the last record', () => idsOf(one.client).includes('last'));
    assert.equal(await outside.committed(other.scope, topic), committedByOther);
    assert.equal(committedByOther, written - 1);
  });
});
