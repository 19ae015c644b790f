import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { GraphQLResolveInfo } from 'graphql';
import type { ExecutionContext } from '../../../../src/graph/context/context.ts';
import { IS_17 } from '../../../../src/graph/graphql-version.ts';
import { backendServer, backendsAt } from '../../../graph/context/backend-server.ts';
import { switches } from '../../../support/switches.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { publisherOf } from '../../../support/partition-publisher.ts';
import { createStage, factsOf } from '../stage.ts';
import type { Listener, StageOptions } from '../stage.ts';

const SDL = `
  type Query { slow: Int }
  type Subscription { item: Item @kafka(topic: "t", payload: "item") }
  type Item { n: Int slow: Int }`;
const CHANNEL = 't{}';

/** A stage whose field `slow` waits for a backend that does not answer. */
async function createSlow(t: TestContext, options: Partial<StageOptions> = {}) {
  const open = new Set<string>();
  let requests = 0;
  const url = await backendServer(t, (request, response) => {
    const key = `${request.url} ${++requests}`;
    open.add(key);
    response.once('close', () => open.delete(key));
  });
  const { backends, answers } = backendsAt(t, url);
  const signals: AbortSignal[] = [];
  const slow = async (_: unknown, __: unknown, context: ExecutionContext, info: GraphQLResolveInfo) => {
    signals.push(context.signal);
    if (IS_17) assert.equal((info as unknown as { getAbortSignal(): unknown }).getAbortSignal(), context.signal);
    return context.backends['venue']!.get('/slow');
  };
  const resolvers = { Item: { slow }, Query: { slow } };
  const stage = await createStage(t, { sdl: SDL, resolvers, context: { backends: ['venue'] }, backends, ...options });
  const publish = (item: object) =>
    publisherOf(stage.bus, 't', 0).publish([{ channel: CHANNEL, payload: JSON.stringify({ item }) }]);
  const asked = () => waitFor('the request', () => open.size > 0);
  const ended = () => waitFor('the end of the request', () => open.size === 0);
  return { stage, publish, open, signals, answers, asked, ended, requests: () => requests };
}

/** As its client completes the operation. */
function end({ subscription, leave }: Listener): void {
  subscription.end();
  leave();
}

/** By which technique the resolver is called. */
const WAYS: Record<string, Partial<StageOptions>> = {
  'by graphql-js': { jitAfterUses: 0, hasProjection: false },
  compiled: { jitAfterUses: 1, hasProjection: false },
  'compiled, in a template': { jitAfterUses: 1, hasProjection: true },
};

describe('an execution for which nobody waits', () => {
  for (const [way, options] of Object.entries(WAYS)) {
    it(`has its request to a backend ended when its last subscriber has left: ${way}`, async (t) => {
      const { stage, publish, open, signals, answers, asked, ended } = await createSlow(t, options);
      const [first, second] = [
        await stage.join('subscription { item { n slow } }', factsOf('a', {})),
        await stage.join('subscription { item { n slow } }', factsOf('b', {})),
      ];
      await publish({ n: 1 });
      await asked();
      end(first);
      if (switches.SHARING) {
        assert.equal(open.size, 1);
        assert.ok(!signals[0]!.aborted);
      }
      end(second);
      await ended();
      assert.ok(signals.every(({ aborted }) => aborted));
      assert.match(String(signals[0]!.reason), /the last subscriber that waited for the result has left/);
      // It says nothing of the backend.
      assert.deepEqual(answers, []);
    });
  }

  it('shares its result with no later subscriber', async (t) => {
    const { stage, publish, asked, ended, requests } = await createSlow(t, WAYS['by graphql-js']);
    const query = 'subscription { item { n slow } }';
    const first = await stage.join(query, factsOf('a', {}));
    await publish({ n: 1 });
    await asked();
    end(first);
    await ended();
    const later = await stage.join(query, factsOf('b', {}));
    await publish({ n: 2 });
    await asked();
    assert.equal(requests(), 2);
    assert.deepEqual(later.received, []);
    end(later);
    await ended();
  });

  it('has its request ended at its deadline', async (t) => {
    const { stage, publish, signals, asked, ended } = await createSlow(t, {
      executionTimeoutMs: 200,
      onFailure: () => undefined,
    });
    await stage.join('subscription { item { n slow } }', factsOf('a', {}));
    await publish({ n: 1 });
    await asked();
    await ended();
    assert.match(String(signals[0]!.reason), /EXECUTION_TIMEOUT_MS/);
  });

  it('has its request ended when the caller of a query has left', async (t) => {
    const { stage, signals, asked, ended } = await createSlow(t);
    const operation = stage.runtime.prepare({ query: '{ slow }' }, undefined);
    assert.ok(!('errors' in operation));
    let leave = () => assert.fail('the query has not begun');
    const result = stage.runtime.execute(operation, undefined, factsOf('a', {}), (left) => (leave = left as never));
    await asked();
    leave();
    await ended();
    assert.match(String(signals[0]!.reason), /the caller has left/);
    assert.deepEqual({ ...(await result).data }, { slow: null });
  });
});
