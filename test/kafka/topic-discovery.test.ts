import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TopicDiscovery } from '../../src/kafka/topic-discovery.ts';
import { readableLog } from './consumer-harness.ts';

/** A discovery in a cluster with these topics, by their numbers of partitions. */
function createDiscovery(
  topics: readonly string[],
  counts: Record<string, number>,
  leaderless: Record<string, readonly number[]> = {},
  ids: Record<string, string> = {},
) {
  const cluster = {
    existingTopics: (wanted: readonly string[]) => Promise.resolve(wanted.filter((topic) => topic in counts)),
    topicIds: (wanted: readonly string[]) =>
      Promise.resolve(new Map(Object.entries(ids).filter(([topic]) => wanted.includes(topic)))),
    topicPartitions: (wanted: readonly string[]) => {
      const missing = wanted.find((topic) => !(topic in counts));
      if (missing !== undefined) return Promise.reject(new Error(`no topic ${missing}`));
      return Promise.resolve(
        new Map(wanted.map((topic) => [topic, { count: counts[topic]!, leaderless: leaderless[topic] ?? [] }])),
      );
    },
  };
  const { log, lines } = readableLog();
  return { discovery: new TopicDiscovery(cluster, topics, log), lines };
}

describe('TopicDiscovery', () => {
  it('finds new partitions once, also while a broker does not know them yet', async () => {
    const counts = { a: 6 };
    const { discovery, lines } = createDiscovery(['a'], counts);
    assert.deepEqual(await discovery.existing(), ['a']);
    assert.equal(await discovery.hasChanged(), false);
    counts.a = 12;
    assert.equal(await discovery.hasChanged(), true);
    assert.match(lines.at(-1)!, /topics have new partitions/);
    await discovery.existing();
    counts.a = 6;
    await discovery.existing();
    counts.a = 12;
    assert.equal(await discovery.hasChanged(), false);
  });

  it('finds a topic that was created again once, and names it', async () => {
    const ids: Record<string, string> = { a: 'one', b: 'one' };
    const { discovery, lines } = createDiscovery(['a', 'b'], { a: 1, b: 1 }, {}, ids);
    await discovery.existing();
    assert.equal(await discovery.hasChanged(), false);
    ids['a'] = 'two';
    assert.equal(await discovery.hasChanged(), true);
    assert.match(lines.at(-1)!, /"topics":\["a"\].*created again/);
    await discovery.existing();
    delete ids['a'];
    assert.equal(await discovery.hasChanged(), false, 'the broker does not know it');
  });

  it('says once which partitions have no leader, and when they have one again', async () => {
    const leaderless: Record<string, readonly number[]> = {};
    const { discovery, lines } = createDiscovery(['a', 'b'], { a: 2, b: 2 }, leaderless);
    await discovery.existing();
    const assignment = new Map(
      ['a', 'b'].map((topic) => [topic, new Map([0, 1].map((partition) => [partition, undefined]))]),
    );
    const leaderlessOf = (unknown: { topic: string; partition: number }[] = []) =>
      discovery.leaderlessOf({ assignment, unknown });
    assert.deepEqual([leaderlessOf(), lines], [[], []]);
    leaderless['b'] = [1];
    for (let look = 0; look < 3; look++) assert.equal(await discovery.hasChanged(), false);
    const one = { topic: 'b', partition: 1 };
    assert.deepEqual(leaderlessOf([one]), [one]);
    assert.deepEqual(leaderlessOf([{ topic: 'a', partition: 0 }]), [one, { topic: 'a', partition: 0 }]);
    assert.deepEqual(discovery.leaderlessOf({ assignment: new Map(), unknown: [] }), []);
    assert.match(
      lines.join(''),
      /^\{.*"partitions":\[\{"topic":"b","partition":1\}\].*partitions have no leader.*\}\n$/,
    );
    leaderless['b'] = [];
    await discovery.hasChanged();
    assert.deepEqual(leaderlessOf(), []);
    assert.match(lines.at(-1)!, /partitions have a leader again/);
  });

  it('finds a topic that appears, also after another one was deleted', async () => {
    const counts: Record<string, number> = { a: 1 };
    const { discovery } = createDiscovery(['a', 'b'], counts);
    await discovery.existing();
    assert.deepEqual(discovery.missing, ['b']);
    delete counts['a'];
    assert.equal(await discovery.hasChanged(), false);
    counts['b'] = 1;
    assert.equal(await discovery.hasChanged(), true);
  });
});
