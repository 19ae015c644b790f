import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { ExecutionContext } from '../../../src/graph/context/context.ts';
import { Executions, rootFieldsOf } from '../../../src/graph/execution/executions.ts';
import { publisherOf } from '../../support/partition-publisher.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createStage, factsOf } from './stage.ts';

const SDL = `
  type Query { now: Int later: Int }
  type Subscription { item: Item @kafka(topic: "t", payload: "item") }
  type Item { n: Int own: String }`;
const QUERY = 'subscription { renamed: item { n own } }';
const CHANNEL = 't{}';

/** A stage whose field `own` has the resolver. */
async function createObserved(t: TestContext, own: (context: ExecutionContext) => unknown, timeoutMs = 10_000) {
  /** Executions observed so far, at each write of results. */
  const written: number[] = [];
  const seconds: [string, number][] = [];
  const backendRequests: [string, number][] = [];
  const into = (observed: [string, number][]) => (field: string) => ({
    observe: (value: number, weight = 1) => {
      for (let i = 0; i < weight; i++) observed.push([field, value]);
    },
  });
  const executions = new Executions({ seconds: into(seconds), backendRequests: into(backendRequests) });
  const failures: unknown[] = [];
  const stage = await createStage(t, {
    sdl: SDL,
    resolvers: { Item: { own: (_: object, __: object, context: ExecutionContext) => own(context) } },
    context: { backends: ['lots'] },
    hasSharing: true,
    executions,
    executionTimeoutMs: timeoutMs,
    onFailure: (error) => void failures.push(error),
    onFlush: () => void written.push(seconds.length),
  });
  return { stage, executions, seconds, backendRequests, failures, written };
}

describe('Executions', () => {
  it('counts one execution and its shared results for members that are alike', async (t) => {
    const { stage, executions, seconds } = await createObserved(t, () => 'x');
    for (const id of ['a', 'b', 'c']) await stage.join(QUERY, factsOf(id, {}));
    await stage.publish(CHANNEL, { item: { n: 1 } }, { item: { n: 2 } });
    assert.deepEqual([executions.ofEvents, executions.sharedResults], [2, 4]);
    assert.deepEqual(
      seconds.map(([field]) => field),
      ['item', 'item'],
    );
    assert.ok(seconds.every(([, value]) => value > 0 && value < 10));
  });

  it('counts no shared result where each member needs its own execution', async (t) => {
    const { stage, executions } = await createObserved(t, ({ connection }) => connection.claims['user']);
    for (const user of ['a', 'b', 'c']) await stage.join(QUERY, factsOf(user, { user }));
    await stage.publish(CHANNEL, { item: { n: 1 } });
    assert.deepEqual([executions.ofEvents, executions.sharedResults], [3, 0]);
  });

  it('has observed every execution when its result is written', async (t) => {
    const { stage, backendRequests, written } = await createObserved(t, ({ connection }) => connection.claims['user']);
    for (const user of ['a', 'b', 'c']) await stage.join(QUERY, factsOf(user, { user }));
    await stage.publish(CHANNEL, { item: { n: 1 } });
    assert.deepEqual(new Set(written), new Set([3]));
    assert.equal(backendRequests.length, 3);
  });

  it('observes the requests of an execution that settles at once without their answers', async (t) => {
    const { stage, backendRequests } = await createObserved(t, ({ backends, connection }) => {
      const { user } = connection.claims;
      if (user === 'b') void backends['lots']!.get('/');
      return user;
    });
    for (const user of ['a', 'b', 'c']) await stage.join(QUERY, factsOf(user, { user }));
    await stage.publish(CHANNEL, { item: { n: 1 } });
    assert.deepEqual(backendRequests.map(([, requests]) => requests).toSorted(), [0, 0, 1]);
  });

  it('observes the requests that an execution sends to backends, and 0 without any', async (t) => {
    let requests = 3;
    const { stage, backendRequests } = await createObserved(t, async ({ backends }) => {
      for (let i = 0; i < requests; i++) await backends['lots']!.get(`/${i}`);
      return 'x';
    });
    await stage.join(QUERY, factsOf('a', {}));
    await stage.publish(CHANNEL, { item: { n: 1 } });
    requests = 0;
    await stage.publish(CHANNEL, { item: { n: 2 } });
    assert.deepEqual(backendRequests, [
      ['item', 3],
      ['item', 0],
    ]);
  });

  it('observes each request once where a failing slot lets the whole operation be executed again', async (t) => {
    const { stage, backendRequests } = await createObserved(t, async ({ backends }) => {
      await backends['lots']!.get('/1');
      throw new Error('always');
    });
    const { received } = await stage.join(QUERY, factsOf('a', {}));
    await stage.publish(CHANNEL, { item: { n: 1 } });
    assert.equal(received.length, 1);
    assert.deepEqual(backendRequests, [['item', 1]]);
  });

  it('has an execution in flight until it settles, also if its operation has ended', async (t) => {
    let settle!: (value: string) => void;
    const hanging = new Promise<string>((resolve) => (settle = resolve));
    const { stage, executions, seconds } = await createObserved(t, () => hanging);
    const listener = await stage.join(QUERY, factsOf('a', {}));
    await publisherOf(stage.bus).publish([{ channel: CHANNEL, payload: '{"item":{"n":1}}' }]);
    await waitFor('the execution', () => executions.inFlight === 1);
    listener.leave();
    assert.equal(executions.inFlight, 1);
    settle('x');
    await waitFor('its end', () => executions.inFlight === 0);
    assert.equal(seconds.length, 1);
  });

  it('has an execution in flight after its deadline, because it still holds what it waits for', async (t) => {
    let settle!: (value: string) => void;
    const hanging = new Promise<string>((resolve) => (settle = resolve));
    const { stage, executions, failures } = await createObserved(t, () => hanging, 20);
    await stage.join(QUERY, factsOf('a', {}));
    await publisherOf(stage.bus).publish([{ channel: CHANNEL, payload: '{"item":{"n":1}}' }]);
    await waitFor('the deadline', () => failures.length === 1);
    assert.equal(executions.inFlight, 1);
    settle('x');
    await waitFor('its end', () => executions.inFlight === 0);
  });

  it('names an operation of one root field after it, behind fragments, too, and no operation of several', async (t) => {
    const { stage, executions, seconds } = await createObserved(t, () => 'x');
    for (const query of [
      '{ now }',
      '{ a: now b: now ...f } fragment f on Query { now }',
      '{ now later }',
      '{ __typename }',
    ]) {
      const operation = stage.runtime.prepare({ query }, undefined);
      assert.ok(!('errors' in operation));
      await stage.runtime.execute(operation, undefined, factsOf('a', {}));
    }
    assert.deepEqual(
      seconds.map(([field]) => field),
      ['now', 'now', '', '__typename'],
    );
    assert.deepEqual([executions.ofEvents, executions.inFlight], [0, 0]);
    assert.deepEqual(rootFieldsOf(stage.runtime.schema), ['item', 'now', 'later']);
  });
});
