import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ExecutionContext } from '../../src/graph/context/context.ts';
import { logLines } from '../bus/log-lines.ts';
import { EXECUTION_PATHS } from '../gateway/fanout/execution-paths.ts';
import { createStage, factsOf } from '../gateway/fanout/stage.ts';
import { waitFor } from '../support/wait-for.ts';

const SDL = `
  type Query { x: Int y: Int }
  type Subscription { item: Item @kafka(topic: "items") }
  type Item { id: ID }`;

interface Result {
  readonly data: unknown;
  readonly errors?: readonly { readonly path: unknown; readonly extensions: { readonly code: string } }[];
}

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

describe('context.publish', () => {
  const sdl = `
    type Subscription { item: Item @kafka(topic: "t", payload: "item") ticks: Item }
    type Item { id: ID sent: Boolean }
    type Query { sent: Boolean }
    type Mutation { sent: Boolean }`;

  for (const [title, options] of EXECUTION_PATHS) {
    it(`rejects in each execution of an event, ${title}: nothing is written, and the other fields arrive`, async (t) => {
      const { log, lines } = logLines();
      const written: unknown[] = [];
      const sent = (_: unknown, __: unknown, context: ExecutionContext) =>
        context.publish('t', { value: {} }).then(() => true);
      const stage = await createStage(t, {
        sdl,
        resolvers: { Item: { sent }, Subscription: { ticks: { subscribe: () => assert.fail('not subscribed to') } } },
        publishRecord: (...record) => Promise.resolve(written.push(record)) as never,
        log,
        ...options,
      });
      const listener = await stage.join('subscription { item { id sent } }', factsOf('a', {}));
      for (const id of ['1', '2', '3']) {
        await stage.publish('t{}', { item: { id } });
        const { data, errors } = JSON.parse(listener.received.at(-1)!) as Result;
        assert.deepEqual(data, { item: { id, sent: null } });
        assert.deepEqual(
          errors?.map(({ path, extensions }) => [path, extensions.code]),
          [[['item', 'sent'], 'INTERNAL_SERVER_ERROR']],
        );
      }
      assert.deepEqual(written, []);
      assert.ok(lines.some(({ err }) => /context.publish is for resolvers of mutations/.test(JSON.stringify(err))));
    });
  }

  it('rejects in queries and in the authorize and subscribe of a subscription, and writes in mutations only', async (t) => {
    const written: unknown[] = [];
    const outcomes: string[] = [];
    const attempt = (where: string, { publish }: ExecutionContext) =>
      publish('t', { key: where, value: null }).then(
        () => void outcomes.push(where),
        (error: unknown) => void outcomes.push(`${where}: ${(error as Error).name}`),
      );
    const resolver = (where: string) => (_: unknown, __: unknown, context: ExecutionContext) => attempt(where, context);
    const authorize = (_: unknown, context: ExecutionContext) => attempt('authorize', context);
    async function* subscribe(_: unknown, __: unknown, context: ExecutionContext) {
      yield { ticks: await attempt('subscribe', context) };
    }
    const stage = await createStage(t, {
      sdl,
      resolvers: {
        Query: { sent: resolver('query') },
        Mutation: { sent: resolver('mutation') },
        Subscription: { item: { authorize }, ticks: { subscribe } },
      },
      publishRecord: (topic, { key }) => Promise.resolve(written.push([topic, key])) as never,
    });
    const facts = factsOf('a', {});
    for (const query of ['{ sent }', 'mutation { sent }']) {
      const operation = stage.runtime.prepare({ query }, undefined);
      assert.ok(!('errors' in operation));
      await stage.runtime.execute(operation, undefined, facts);
    }
    await stage.join('subscription { item { id } }', facts);
    const { received } = await stage.join('subscription { ticks { id } }', facts);
    await waitFor('the tick', () => received.length === 1);
    assert.deepEqual(outcomes, ['query: TypeError', 'mutation', 'authorize: TypeError', 'subscribe: TypeError']);
    assert.deepEqual(written, [['t', 'mutation']]);
  });
});
