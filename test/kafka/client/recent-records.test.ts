import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { createKafkaClient } from '../../../src/kafka/client/kafka-client.ts';
import { Cluster } from '../../../src/kafka/client/cluster.ts';
import { RecentRecords } from '../../../src/kafka/client/recent-records.ts';
import { createLog } from '../../../src/base/log.ts';
import { graphFolder } from '../../graph/support/graph-folder.ts';
import { checked } from '../../ops/check/checked.ts';
import { redisServer } from '../../support/services.ts';
import { testConfig } from '../../support/switches.ts';
import { withOutside } from '../consumer-harness.ts';
import type { Outside } from '../consumer-harness.ts';

const MISTAKE = JSON.stringify({ id: 'x', state: 'OPN' });

describe('RecentRecords', { timeout: 120_000 }, () => {
  let outside: Outside;
  /** The first partition has 300 records, the second has one, and the third has one that is larger than a fetch. */
  let topic: string;
  withOutside((connected) => (outside = connected));
  before(async () => {
    topic = await outside.createTopic(undefined, 3);
    await outside.limitMessages(topic, 4_000_000);
    await outside.send(
      topic,
      Array.from({ length: 300 }, (_, n) => ({ partition: 0, value: JSON.stringify({ id: n, state: 'OPEN' }) })),
    );
    await outside.send(topic, [{ partition: 2, value: JSON.stringify({ id: 'y'.repeat(900_000), state: 'OPEN' }) }]);
    await outside.send(topic, [{ partition: 1, value: MISTAKE }]);
  });

  async function read(t: TestContext, count: number, of = topic) {
    const createClient = () =>
      createKafkaClient(
        testConfig({ KAFKA_BROKERS: outside.brokers, REDIS_URL: 'redis://unused' }),
        createLog('silent'),
      );
    const client = createClient();
    const cluster = new Cluster(createClient);
    t.after(() => (cluster.close(), client.destroy()));
    const reader = await RecentRecords.connect(client);
    return reader.read(of, (await cluster.partitionRanges([of])).get(of)!, count);
  }

  it('reads the newest records of each partition, in the order of their times', async (t) => {
    const { records, isWhole } = await read(t, 60);
    assert.equal(isWhole, false);
    const offsets = [0, 1, 2].map((of) =>
      records.filter(({ partition }) => partition === of).map(({ offset }) => Number(offset)),
    );
    assert.deepEqual(offsets, [Array.from({ length: 58 }, (_, n) => 242 + n), [0], [0]]);
    const times = records.map(({ timestamp }) => Number(timestamp));
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
    assert.equal(String(records.at(-1)!.value), MISTAKE);
  });

  it('reads one of each partition where there are more partitions than records are wanted', async (t) => {
    const { records } = await read(t, 1);
    assert.deepEqual(records.map(({ partition, offset }) => `${partition}:${offset}`).sort(), ['0:299', '1:0', '2:0']);
  });

  it('tells that the topic has no others', async (t) => {
    const { records, isWhole } = await read(t, 1000);
    assert.deepEqual([records.length, isWhole], [302, true]);
    assert.equal((await read(t, 301)).isWhole, false);
  });

  it('reads on where one fetch has a part of what is wanted', async (t) => {
    const large = await outside.createTopic(undefined, 2);
    const value = 'x'.repeat(200_000);
    for (const partition of [0, 1])
      for (let i = 0; i < 5; i++)
        await outside.send(
          large,
          Array.from({ length: 4 }, () => ({ partition, value })),
        );
    const { records, isWhole } = await read(t, 100, large);
    assert.deepEqual([records.length, isWhole], [40, true]);
    const limited = await read(t, 50, large);
    assert.equal(limited.isWhole, false);
    assert.deepEqual([...new Set(limited.records.map(({ partition }) => partition))].sort(), [0, 1]);
  });

  it('reads about 64 MiB at most, whatever number is wanted', async (t) => {
    const large = await outside.createTopic(undefined, 1);
    const value = 'x'.repeat(900_000);
    const batch = Array.from({ length: 5 }, () => ({ partition: 0, value }));
    // 129 MiB, which are small only when they are compressed: one fetch inflates to 32 MiB.
    for (let i = 0; i < 30; i++) await outside.send(large, batch, true);
    const { records, isWhole } = await read(t, 100_000_000, large);
    assert.equal(isWhole, false);
    const mebibytes = (records.length * value.length) / 1024 / 1024;
    assert.ok(mebibytes > 63 && mebibytes < 64 + 32 + 5, `${mebibytes} MiB`);
  });

  it('lets crier check compare the only record of a sparse partition', async (t) => {
    const schema = `type Subscription { order: Order @kafka(topic: "${topic}") } type Order { id: ID state: State } enum State { OPEN }`;
    const folder = await graphFolder(t, { 'schema.graphql': schema });
    const settings = { KAFKA_BROKERS: outside.brokers, REDIS_URL: (await redisServer(t)).url };
    const { lines } = await checked({ ...settings, GRAPH: folder });
    assert.match(
      lines.join('\n'),
      /^warning +records: .*\(partition 1, offset 0\): .*Order\.state: the record has "OPN"/m,
    );
  });
});
