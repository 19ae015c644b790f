import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createStage } from '../fanout/stage.ts';

const SDL = `
  type Query { x: Int y: Int }
  type Subscription { item: Item @kafka(topic: "items") }
  type Item { id: ID }`;

const TWO = { query: 'query A { x } query B { y } subscription C { item { id } }' };

describe('GraphRuntime', () => {
  it('finds an operation of a cached document only after it was prepared itself, if that compiles it', async (t) => {
    const { runtime } = await createStage(t, { sdl: SDL, jitAfterUses: 1 });
    assert.equal(runtime.findPrepared(TWO, 'A'), undefined);
    for (const name of ['A', 'B', 'C']) {
      assert.equal(runtime.findPrepared(TWO, name), undefined);
      const operation = runtime.prepare(TWO, name);
      assert.equal(runtime.findPrepared(TWO, name), operation);
    }
    const refusal = runtime.findPrepared(TWO, 'D');
    assert.ok(refusal && 'errors' in refusal);
  });

  it('finds every operation of a cached document if none is compiled before its first execution', async (t) => {
    const { runtime } = await createStage(t, { sdl: SDL, jitAfterUses: 3 });
    runtime.prepare(TWO, 'A');
    for (const name of ['A', 'B', 'C']) assert.equal(runtime.findPrepared(TWO, name), runtime.prepare(TWO, name));
  });
});
