import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../end-to-end/pod.ts';
import { withOutside } from '../kafka/consumer-harness.ts';
import type { Outside } from '../kafka/consumer-harness.ts';
import { watch } from '../support/stock-client.ts';
import { podsStage, postReload } from './pods-stage.ts';

const ITEM = 'subscription { item(id: "1") { n } }';

describe('a reload that changes which states a topic keeps', { timeout: 240_000 }, () => {
  let outside: Outside;
  withOutside((connected) => (outside = connected));

  const schemaOf =
    (more: string, state = '{}') =>
    (topic: string) => `
    type Item { id: ID! n: Int! }
    type Query { last(id: ID!): Item @state(of: "item") }
    type Subscription {
      item(id: ID!): Item @kafka(topic: "${topic}", match: [{ arg: "id", path: "id" }], state: ${state})
      ${more.replace('TOPIC', topic)}
    }`;
  const isComplete = (pod: Pod) => pod.reports({ incomplete_states: [], state_fills: [] });

  it('fills the states of a new field from records that precede it, and live subscriptions receive what follows', async (t) => {
    const stage = await podsStage(t, outside, { schemaOf: schemaOf(''), resolvers: '' });
    const pod = await stage.start('a');
    await isComplete(pod);
    const live = watch(t, pod.url, ITEM);
    for (const count of [1, 2]) {
      await stage.send(stage.topic, 1);
      await live.event(count, 30_000);
    }

    const byNumber = 'numbered(n: Int!): Item @kafka(topic: "TOPIC", match: [{ arg: "n", path: "n" }], state: {})';
    await stage.write('schema.graphql', schemaOf(byNumber)(stage.topic));
    const { status, report } = await postReload(pod);
    assert.equal(status, 200, JSON.stringify(report));
    await isComplete(pod);
    const added = watch(t, pod.url, 'subscription { numbered(n: 1) { n } }');
    assert.deepEqual(await added.event(1, 30_000), { numbered: { n: 1 } });
    await stage.send(stage.topic, 1);
    await pod.until('the record that follows', () => JSON.stringify(live.events.at(-1)) === '{"item":{"n":2}}');
    assert.deepEqual(live.failures, []);
  });

  it('fills them again when their lifetime changes, and queries answer with them at any time', async (t) => {
    const stage = await podsStage(t, outside, { schemaOf: schemaOf(''), resolvers: '' });
    const pod = await stage.start('a');
    await isComplete(pod);
    await stage.send(stage.topic, 1);
    const live = watch(t, pod.url, ITEM);
    await live.event(1, 30_000);
    await stage.write('schema.graphql', schemaOf('', '{ seconds: 3600 }')(stage.topic));
    assert.equal((await postReload(pod)).status, 200);
    const last = async () => {
      const response = await fetch(pod.endpoint, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: '{ last(id: "1") { n } }' }),
      });
      return ((await response.json()) as { data: unknown }).data;
    };
    assert.deepEqual(await last(), { last: { n: 0 } });
    await isComplete(pod);
    assert.deepEqual(await last(), { last: { n: 0 } });
    assert.deepEqual(live.failures, []);
  });
});
