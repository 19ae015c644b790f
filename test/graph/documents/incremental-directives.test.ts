import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createStage, factsOf } from '../../gateway/fanout/stage.ts';

const SDL = `
  type Query { item: Item }
  type Subscription { item: Item @kafka(topic: "t", payload: "item") }
  type Item { n: Int list: [Int] more: Item }`;
const SELECTION = `
  ... @defer { n }
  ...More @defer(if: $now, label: "more")
  list @stream(initialCount: 1)`;
const FRAGMENT = 'fragment More on Item { more { n } }';
const ITEM = { n: 1, list: [1, 2], more: { n: 2 } };

describe('@defer and @stream', () => {
  for (const jitAfterUses of [0, 1]) {
    it(`are accepted, and what they name is delivered with the rest, JIT_AFTER_USES=${jitAfterUses}`, async (t) => {
      const stage = await createStage(t, { sdl: SDL, resolvers: { Query: { item: () => ITEM } }, jitAfterUses });
      const query = `query ($now: Boolean! = true) { item { ${SELECTION} } } ${FRAGMENT}`;
      const operation = stage.runtime.prepare({ query }, undefined);
      assert.ok(!('errors' in operation), JSON.stringify(operation));
      const { data, errors } = await stage.runtime.execute(operation, {}, factsOf('a', {}));
      assert.deepEqual(errors, undefined);
      assert.deepEqual(JSON.parse(JSON.stringify(data)), { item: ITEM });

      const subscription = query.replace('query', 'subscription');
      const { received } = await stage.join(subscription, factsOf('a', {}));
      await stage.publish('t{}', { item: ITEM });
      assert.deepEqual(JSON.parse(received[0]!), { data: { item: ITEM } });
    });
  }

  it('are those of a graph that defines them', async (t) => {
    const stage = await createStage(t, { sdl: `${SDL} directive @defer on FIELD` });
    assert.ok('errors' in stage.runtime.prepare({ query: '{ item { ... @defer { n } } }' }, undefined));
    assert.ok(!('errors' in stage.runtime.prepare({ query: '{ item { n @defer } }' }, undefined)));
  });
});
