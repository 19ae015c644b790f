import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { spawnPod } from '../end-to-end/pod-process.ts';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { watch } from '../support/stock-client.ts';
import type { Watch } from '../support/stock-client.ts';
import { waitFor } from '../support/wait-for.ts';
import { podsStage, postReload } from './pods-stage.ts';

const resolvers = (version: string) => `export const Item = { label: () => '${version}' };`;

describe('a reload of pods that share Kafka and Redis', { timeout: 240_000 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  const createStage = (t: TestContext, schemaOf: (topic: string) => string) =>
    podsStage(t, outside, { schemaOf, resolvers: resolvers('first') });

  const schema = (topic: string) => `
    type Item { id: ID! n: Int! label: String }
    type Subscription { item(id: ID!): Item @kafka(topic: "${topic}", match: [{ arg: "id", path: "id" }]) }`;

  const numbersOf = ({ events }: Watch) => events.map(({ item }) => (item as { n: number }).n);
  const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

  it('swaps the graph of all pods under a flow of records: live subscriptions get each event once', async (t) => {
    const stage = await createStage(t, schema);
    const [a, b] = await Promise.all([stage.start('a', { ROLE: 'gateway' }), stage.start('b')]);
    const query = 'subscription { item(id: "1") { n label } }';
    const watched = [a, b].flatMap(({ url }) => [watch(t, url, query), watch(t, url, query)]);
    for (const pod of [a, b]) await pod.counts('crier_subscriptions', 2);
    await b.reports({ kafka: 'connected' });

    let isFlowing = true;
    const flow = (async () => {
      while (isFlowing) await stage.send(stage.topic, 20);
    })();
    await watched[0]!.event(50, 30_000);
    await stage.write('resolvers.js', resolvers('second'));
    const { status, report } = await postReload(a);
    assert.equal(status, 200, JSON.stringify(report));
    assert.deepEqual(
      report.pods.map(({ pod, outcome }) => [pod, outcome]),
      [
        ['a', 'swapped'],
        ['b', 'swapped'],
      ],
    );
    const revisions = new Set(report.pods.map(({ revision }) => revision));
    assert.equal(revisions.size, 1);
    await b.reports({ graph_revision: [...revisions][0] });
    const reloadedAt = stage.sent();
    await waitFor('more records', () => stage.sent() >= reloadedAt + 100, 30_000);
    isFlowing = false;
    await flow;
    for (const one of watched) {
      await one.event(stage.sent(), 30_000);
      assert.deepEqual(numbersOf(one), upTo(stage.sent()));
      const labels = one.events.map(({ item }) => (item as { label: string }).label);
      assert.equal(labels.at(-1), 'second');
      assert.deepEqual(labels, labels.toSorted(), 'no result of the former graph after one of the new graph');
      assert.deepEqual(one.failures, []);
    }
    const again = await postReload(b);
    assert.deepEqual(
      again.report.pods.map(({ outcome }) => outcome),
      ['unchanged', 'unchanged'],
    );
  });

  it('changes nothing when the graph is broken, and says why for each pod', async (t) => {
    const stage = await createStage(t, schema);
    const [a, b] = await Promise.all([stage.start('a', { ROLE: 'gateway' }), stage.start('b', { ROLE: 'worker' })]);
    const one = watch(t, a.url, 'subscription { item(id: "1") { n } }');
    await a.counts('crier_subscriptions', 1);
    await stage.write('schema.graphql', schema(stage.topic).replace('path: "id"', 'path: "wrong"'));
    const { status, report } = await postReload(b);
    assert.equal(status, 422);
    assert.equal(report.pods.length, 2);
    for (const { outcome, problems } of report.pods) {
      assert.equal(outcome, 'refused');
      assert.match(
        problems!.join(),
        /schema\.graphql:\d+: Subscription\.item: path "wrong" leads to no field, which a path inside the payload must/,
      );
    }
    assert.match(a.log, /the graph was not reloaded/);
    assert.equal(await a.metric('crier_graph_reloads_total{outcome="refused"}'), 1);
    await stage.send(stage.topic, 1);
    assert.deepEqual(await one.event(1, 30_000), { item: { n: 0 } });
  });

  it('consumes a topic that a new field names, without losing the place in the others', async (t) => {
    const stage = await createStage(t, schema);
    const added = await outside.createTopic(undefined, 1);
    const pod = await spawnPod(t, stage.settings).started();
    await pod.reports({ kafka: 'connected' });
    const one = watch(t, pod.url, 'subscription { item(id: "1") { n } }');
    await pod.counts('crier_subscriptions', 1);
    await stage.send(stage.topic, 10);
    await one.event(10, 30_000);
    await outside.send(added, [{ key: 'k', value: JSON.stringify({ id: '1', n: -1 }) }]);

    const text = schema(stage.topic).replace(
      'type Subscription {',
      `type Subscription { added: Item @kafka(topic: "${added}")`,
    );
    await stage.write('schema.graphql', text);
    pod.process.kill('SIGHUP');
    await pod.counts('crier_graph_reloads_total{outcome="swapped"}', 1);
    const other = watch(t, pod.url, 'subscription { added { n } }');
    await pod.counts('crier_subscriptions', 2);
    await stage.send(stage.topic, 10);
    await one.event(20, 60_000);
    await pod.reports({ kafka: 'connected' });
    await outside.send(added, [{ key: 'k', value: JSON.stringify({ id: '1', n: 5 }) }]);
    // The group is not new: it reads the topic from its beginning. The subscription may have begun after the first record.
    await pod.counts(`crier_records_consumed_total{topic="${added}"}`, 2);
    const last = () => other.events.at(-1)?.['added'] as { n: number } | undefined;
    await waitFor('the new record', () => last()?.n === 5);
    assert.deepEqual(numbersOf(one), upTo(20));
    assert.deepEqual(one.failures, []);
  });

  it('moves a subscription whose match has changed to its new channel, and reports a gap', async (t) => {
    const stage = await createStage(
      t,
      (topic) =>
        `type Item { id: ID! other: ID n: Int! label: String }
       type Subscription { item(id: ID!): Item @kafka(topic: "${topic}", match: [{ arg: "id", path: "id" }]) }`,
    );
    const pod = await stage.start('a');
    const one = watch(t, pod.url, 'subscription { item(id: "1") { n } }');
    await pod.counts('crier_subscriptions', 1);
    await pod.reports({ kafka: 'connected' });
    await stage.send(stage.topic, 1);
    await one.event(1, 30_000);
    await stage.write(
      'schema.graphql',
      `type Item { id: ID! other: ID n: Int! label: String }
       type Subscription { item(id: ID!): Item @kafka(topic: "${stage.topic}", match: [{ arg: "id", path: "other" }]) }`,
    );
    assert.equal((await postReload(pod)).status, 200);
    assert.equal(await pod.metric('crier_gaps_total{reason="moved"}'), 1);
    await outside.send(stage.topic, [{ key: '1', value: JSON.stringify({ id: '2', other: '1', n: 7 }) }]);
    assert.deepEqual(await one.event(2, 30_000), { item: { n: 7 } });
    assert.deepEqual(one.failures, []);
  });
});
