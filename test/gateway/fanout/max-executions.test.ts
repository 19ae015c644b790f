import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ExecutionTimeoutError } from '../../../src/base/errors.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createStage, factsOf } from './stage.ts';
import type { Listener, StageOptions } from './stage.ts';

const SDL = `
  type Subscription { item(id: ID!): Item @kafka(topic: "t", match: [{ arg: "id", path: "item.id" }], payload: "item") }
  type Item { id: ID n: Int slow: Int }`;
const SLOW = 'subscription ($id: ID!) { item(id: $id) { n slow } }';
const QUICK = 'subscription ($id: ID!) { item(id: $id) { n } }';
const MEMBERS = 40;
/** Events that one batch has room for. */
const BATCH = 32;

/** Members of channels by id, whose field `slow` has no value until the test answers its executions. */
async function createPod(t: TestContext, options: Partial<StageOptions>) {
  /** Answers the executions that wait for the backend, in order. */
  const pending: (() => void)[] = [];
  let isStalled = true;
  let most = 0;
  const slow = ({ n }: { n: number }) =>
    new Promise((resolve) => {
      if (!isStalled) return void setImmediate(resolve, n);
      pending.push(() => resolve(n));
      most = Math.max(most, pending.length);
    });
  const answer = (count: number) => {
    for (const resolve of pending.splice(0, count)) resolve();
  };
  /** From now on, the backend answers at once. */
  const recover = () => {
    isStalled = false;
    answer(pending.length);
  };
  t.after(recover);
  const stage = await createStage(t, { sdl: SDL, resolvers: { Item: { slow } }, hasSharing: false, ...options });
  await stage.bus.acquire({ topic: 't', partition: 0, position: -1 });
  let offset = 0;
  const publish = async (id: string, count: number) => {
    for (let n = 0; n < count; n++, offset++) {
      const message = {
        channel: `t{item.id="${id}"}`,
        payload: JSON.stringify({ item: { id, n } }),
        offset,
        timestamp: 0,
      };
      await stage.bus.publish([message], { topic: 't', partition: 0, offset });
    }
  };
  const joinAll = (id: string, members: number, query = SLOW) =>
    Promise.all(Array.from({ length: members }, (_, n) => stage.join(query, factsOf(`${id}${n}`, {}), { id })));
  const turns = async (count: number) => {
    for (let turn = 0; turn < count; turn++) await nextTurn();
  };
  return {
    ...stage,
    executions: () => stage.executions,
    pending,
    publish,
    joinAll,
    answer,
    recover,
    turns,
    most: () => most,
  };
}

function numbersOf({ received }: Listener): number[] {
  return received.map((text) => (JSON.parse(text) as { data: { item: { n: number } } }).data.item.n);
}

describe('the bound on executions in flight of a pod', () => {
  it('keeps executions at its limit while a backend stalls, and loses nothing (twin: without it all of them start)', async (t) => {
    const events = 20;
    const unbounded = await createPod(t, {});
    await unbounded.joinAll('a', MEMBERS);
    await unbounded.publish('a', events);
    await waitFor('all executions', () => unbounded.pending.length === events * MEMBERS);

    const { joinAll, publish, inFlight, pending, recover, turns, most } = await createPod(t, {
      maxExecutions: () => 10,
    });
    const members = await joinAll('a', MEMBERS);
    await publish('a', events);
    await waitFor('waiting executions', () => inFlight().waiting > 0);
    await turns(20);
    assert.deepEqual([pending.length, inFlight().inFlight], [10, 10]);
    recover();
    const goal = Array.from({ length: events }, (_, n) => n);
    await waitFor('all results', () => members.every(({ received }) => received.length === events));
    for (const member of members) assert.deepEqual([numbersOf(member), member.socket.isRefused], [goal, false]);
    assert.equal(most(), 10);
    assert.deepEqual([inFlight().inFlight, inFlight().waiting], [0, 0]);
  });

  it('holds further events of a channel whose executions wait, so that no member becomes a slow consumer', async (t) => {
    const events = 300;
    const { joinAll, publish, inFlight, recover, turns } = await createPod(t, {
      maxExecutions: () => 10,
      maxExecuting: 1e6,
    });
    const members = await joinAll('a', MEMBERS);
    await publish('a', events);
    await waitFor('waiting executions', () => inFlight().waiting > 0);
    await turns(50);
    assert.ok(inFlight().waiting <= BATCH * MEMBERS, `${inFlight().waiting} executions wait`);
    recover();
    await waitFor('all results', () => members.every(({ received }) => received.length === events));
    assert.ok(members.every(({ socket }) => !socket.isRefused));
    const goal = Array.from({ length: events }, (_, n) => n);
    for (const member of members) assert.deepEqual(numbersOf(member), goal);
  });

  it('lets channels take turns', async (t) => {
    const { joinAll, publish, inFlight, pending, answer, turns } = await createPod(t, { maxExecutions: () => 2 });
    await joinAll('a', MEMBERS);
    const [other] = await joinAll('b', 1);
    await publish('a', 10);
    await waitFor('waiting executions', () => inFlight().waiting > 0);
    await publish('b', 1);
    await turns(20);
    assert.equal(other!.received.length, 0);
    let answered = 0;
    await waitFor('the other channel', async () => {
      answered += pending.length;
      answer(pending.length);
      await turns(5);
      return other!.received.length === 1;
    });
    assert.ok(answered <= 8, `after ${answered} executions of ${10 * MEMBERS}`);
  });

  it('delays no operation whose executions wait for nothing', async (t) => {
    const { joinAll, publish, inFlight } = await createPod(t, { maxExecutions: () => 1 });
    await joinAll('a', MEMBERS);
    const quick = await joinAll('b', 3, QUICK);
    await publish('a', 5);
    await waitFor('waiting executions', () => inFlight().waiting > 0);
    await publish('b', 5);
    await waitFor('the quick results', () => quick.every(({ received }) => received.length === 5));
    assert.ok(inFlight().waiting > 0);
  });

  it('follows a limit that changes', async (t) => {
    let limit = 10;
    const { joinAll, publish, pending, answer, turns, inFlight } = await createPod(t, { maxExecutions: () => limit });
    await joinAll('a', MEMBERS);
    await publish('a', 2);
    await waitFor('executions', () => pending.length === 10);
    limit = 30;
    answer(1);
    await waitFor('more executions', () => pending.length === 30);
    limit = 5;
    answer(20);
    await turns(20);
    assert.deepEqual([pending.length, inFlight().inFlight], [10, 10]);
    answer(8);
    await waitFor('executions at the lower limit', () => pending.length === 5);
  });

  it('frees the place of an execution that hangs at its deadline', async (t) => {
    const failures: unknown[] = [];
    const { joinAll, publish, pending, answer } = await createPod(t, {
      maxExecutions: () => 1,
      executionTimeoutMs: 100,
      onFailure: (error) => void failures.push(error),
    });
    await joinAll('a', 1);
    const [other] = await joinAll('b', 1);
    await publish('a', 1);
    await waitFor('the execution that hangs', () => pending.length === 1);
    await publish('b', 1);
    await waitFor('the next execution', () => pending.length === 2);
    pending.shift();
    answer(1);
    await waitFor('its result', () => other!.received.length === 1 || failures.length > 1);
    assert.ok(failures[0] instanceof ExecutionTimeoutError);
  });

  it('forgets executions whose members have left', async (t) => {
    const { joinAll, publish, inFlight, pending, answer } = await createPod(t, { maxExecutions: () => 3 });
    const members = await joinAll('a', MEMBERS);
    await publish('a', 5);
    await waitFor('waiting executions', () => inFlight().waiting > 0);
    for (const { leave } of members) leave();
    answer(pending.length);
    await waitFor('the end', () => inFlight().waiting === 0 && inFlight().inFlight === 0);
    assert.equal(pending.length, 0, 'nothing is executed for them');
  });

  it('executes an event once for members that share its result, also after a wait', async (t) => {
    const stage = await createPod(t, { maxExecutions: () => 1, hasSharing: true });
    const { joinAll, publish, inFlight, pending, recover } = stage;
    await joinAll('a', 1);
    const members = await joinAll('b', MEMBERS);
    await publish('a', 1);
    await waitFor('an execution', () => pending.length === 1);
    await publish('b', 3);
    await waitFor('waiting executions', () => inFlight().waiting > 0);
    recover();
    await waitFor('all results', () => members.every(({ received }) => received.length === 3));
    assert.equal(stage.executions(), 4);
  });
});
