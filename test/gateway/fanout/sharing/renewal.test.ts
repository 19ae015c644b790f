import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { HISTORY_DEFAULTS } from '../../../../src/bus/history.ts';
import type { ConnectionFacts } from '../../../../src/graph/context/connection-facts.ts';
import type { ExecutionContext } from '../../../../src/graph/context/context.ts';
import { Cursors } from '../../../../src/gateway/fanout/resume/cursor.ts';
import { publisherOf } from '../../../support/partition-publisher.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { createStage, factsOf } from '../stage.ts';
import type { Listener, StageOptions } from '../stage.ts';
import { ChangingFacts } from './changing-facts.ts';

const SDL = `
  type Subscription { item: Item @kafka(topic: "t", payload: "item") }
  type Item { n: Int tenant: String slow: String }`;
const CHANNEL = 't{}';
const TENANT = 'subscription { item { n tenant } }';
const SLOW = 'subscription { item { n slow } }';

const ofTenant = (id: string, tenant: string) => factsOf(id, { tenant });
const tenantOf = ({ connection }: ExecutionContext) => connection.claims['tenant'] as string;

/** The field `slow` reads the tenant when its execution begins, and has a value once the test calls `answer`. */
async function createTenants(t: TestContext, options: Partial<StageOptions> = {}) {
  const pending: (() => void)[] = [];
  const answer = () => {
    for (const resolve of pending.splice(0)) resolve();
  };
  t.after(answer);
  const stage = await createStage(t, {
    sdl: SDL,
    hasSharing: true,
    resolvers: {
      Item: {
        tenant: (_: unknown, __: unknown, context: ExecutionContext) => tenantOf(context),
        slow: (_: unknown, __: unknown, context: ExecutionContext) => {
          const tenant = tenantOf(context);
          return new Promise((resolve) => pending.push(() => resolve(tenant)));
        },
      },
    },
    ...options,
  });
  let next = 0;
  const publish = async (count = 1) => {
    for (let i = 0; i < count; i++) {
      const payload = JSON.stringify({ item: { n: next++ } });
      await publisherOf(stage.bus, 't', 1).publish([{ channel: CHANNEL, payload }]);
    }
  };
  const pendingIs = (count: number) => waitFor(`${count} executions`, () => pending.length === count);
  return { stage, publish, answer, pending, pendingIs };
}

/** The values of `tenant` or `slow` that a listener received. */
function tenantsOf({ received }: Listener): unknown[] {
  return received.map((text) => {
    const { item } = (JSON.parse(text) as { data: { item: { tenant?: string; slow?: string } } }).data;
    return item.tenant ?? item.slow;
  });
}

async function received(count: number, ...listeners: readonly Listener[]): Promise<void> {
  await waitFor(`${count} results`, () => listeners.every((listener) => listener.received.length === count));
}

describe('an operation with new facts', () => {
  /** A member's results before and after its tenant changes; the results of the others; and the executions of the event after it. */
  async function changeTenant(t: TestContext, facts: ConnectionFacts, change: (listener: Listener) => void) {
    const { stage, publish } = await createTenants(t);
    const moving = await stage.join(TENANT, facts);
    const [acme, other] = [
      await stage.join(TENANT, ofTenant('acme', 'acme')),
      await stage.join(TENANT, ofTenant('other', 'other')),
    ];
    await publish();
    await received(1, moving, acme, other);
    const { executions } = stage;
    change(moving);
    await publish();
    await received(2, moving, acme, other);
    return { tenants: [moving, acme, other].map(tenantsOf), executions: stage.executions - executions };
  }

  it('shares with its new class from the next event on', async (t) => {
    const outcome = await changeTenant(t, ofTenant('m', 'acme'), (listener) => listener.renew(ofTenant('m', 'other')));
    assert.deepEqual(outcome.tenants, [
      ['acme', 'other'],
      ['acme', 'acme'],
      ['other', 'other'],
    ]);
    assert.equal(outcome.executions, 2);
  });

  it('would pass its results on to its old class if its facts were changed in place', async (t) => {
    const facts = new ChangingFacts(ofTenant('m', 'acme'));
    const outcome = await changeTenant(t, facts, () => void (facts.current = ofTenant('m', 'other')));
    assert.deepEqual(outcome.tenants[1], ['acme', 'other']);
  });

  it('alone receives the result of an execution that began before: others of the old and of the new class do not', async (t) => {
    const { stage, publish, answer, pendingIs } = await createTenants(t);
    const moving = await stage.join(SLOW, ofTenant('m', 'acme'));
    const [acme, other] = [
      await stage.join(SLOW, ofTenant('acme', 'acme')),
      await stage.join(SLOW, ofTenant('other', 'other')),
    ];
    await publish();
    // No read set is known yet, so the others wait for the first execution.
    await pendingIs(1);
    moving.renew(ofTenant('m', 'other'));
    answer();
    await received(1, moving);
    assert.deepEqual(tenantsOf(moving), ['acme']);
    for (let others = 0; others < 2; others++) {
      await pendingIs(1);
      answer();
    }
    await received(1, acme, other);
    assert.deepEqual([acme, other].map(tenantsOf), [['acme'], ['other']]);
    assert.equal(stage.executions, 3);
  });

  it('that waited for an execution of its old class gets its new result', async (t) => {
    const { stage, publish, answer, pendingIs } = await createTenants(t);
    const first = await stage.join(SLOW, ofTenant('a', 'acme'));
    const moving = await stage.join(SLOW, ofTenant('m', 'acme'));
    await publish();
    await pendingIs(1);
    moving.renew(ofTenant('m', 'other'));
    answer();
    await pendingIs(1);
    answer();
    await received(1, first, moving);
    assert.deepEqual([first, moving].map(tenantsOf), [['acme'], ['other']]);
  });

  it('that waited for a turn under MAX_EXECUTIONS is executed with them', async (t) => {
    const limit = { executions: 10 };
    const { stage, publish, answer, pendingIs } = await createTenants(t, {
      hasSharing: false,
      maxExecutions: () => limit.executions,
    });
    const first = await stage.join(SLOW, ofTenant('a', 'acme'));
    const moving = await stage.join(SLOW, ofTenant('m', 'acme'));
    // Only operations that have waited before are bounded.
    await publish();
    await pendingIs(2);
    answer();
    await received(1, first, moving);
    limit.executions = 1;
    await publish();
    await waitFor('one to wait', () => stage.inFlight().waiting === 1);
    moving.renew(ofTenant('m', 'other'));
    answer();
    await pendingIs(1);
    answer();
    await received(2, first, moving);
    assert.deepEqual([first, moving].map(tenantsOf), [
      ['acme', 'acme'],
      ['acme', 'other'],
    ]);
  });

  it('receives no results that a replay keeps for its old class', async (t) => {
    const cursors = new Cursors('secret');
    const { stage } = await createTenants(t, { cursors });
    const { bus } = stage;
    await bus.acquire({ topic: 't', partition: 0, position: -1 });
    const messages = Array.from({ length: 4 }, (_, offset) => {
      const payload = JSON.stringify({ item: { n: offset } });
      return { channel: CHANNEL, payload, offset, timestamp: 0, history: HISTORY_DEFAULTS };
    });
    await bus.publish(messages, { topic: 't', partition: 0, offset: 3 });
    const { entries } = await bus.history(CHANNEL, { from: '1', maxEntries: 10, maxBytes: 10_000 });
    const { entry = '', ...position } = entries[0]!.coordinates;
    const start = { cursor: cursors.sign(CHANNEL, { ...position, entry }), replaysLast: false };
    // The result of a member that is alone in its class is not kept.
    const two = ['a', 'b'].map((id) => stage.join(TENANT, ofTenant(id, 'acme'), undefined, start));
    await received(3, ...(await Promise.all(two)));
    assert.equal(stage.executions, 3);
    const moving = await stage.join(TENANT, ofTenant('m', 'acme'), undefined, start);
    assert.equal(moving.received.length, 0);
    moving.renew(ofTenant('m', 'other'));
    await received(3, moving);
    assert.deepEqual(tenantsOf(moving), ['other', 'other', 'other']);
    const third = await stage.join(TENANT, ofTenant('b', 'acme'), undefined, start);
    await received(3, third);
    assert.deepEqual(tenantsOf(third), ['acme', 'acme', 'acme']);
    assert.equal(stage.executions, 6);
  });

  it('is audited with the facts that a result was computed for', async (t) => {
    const { stage, publish } = await createTenants(t, { audit: 1 });
    const listeners = [
      await stage.join(TENANT, ofTenant('a', 'acme')),
      await stage.join(TENANT, ofTenant('b', 'acme')),
    ];
    await publish(2);
    await received(2, ...listeners);
    // The checks run in a later turn.
    for (const listener of listeners) listener.renew(ofTenant('c', 'other'));
    await waitFor('the checks', () => stage.outcomes.length === 2);
    assert.deepEqual(stage.outcomes, ['same', 'same']);
  });

  it('keeps no reference to its old facts once an event has come', async (t) => {
    const { stage, publish } = await createTenants(t);
    const [moving, other] = [
      await stage.join(TENANT, ofTenant('m', 'acme')),
      await stage.join(TENANT, ofTenant('o', 'acme')),
    ];
    const refs: WeakRef<object>[] = [];
    for (let i = 0; i < 20; i++) {
      await publish();
      await received(i + 1, moving, other);
      refs.push(new WeakRef(moving.facts));
      moving.renew(ofTenant('m', `t${i}`));
    }
    await publish();
    await received(21, moving, other);
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    await waitFor('the old facts to be collected', () => {
      collect();
      return refs.filter((ref) => ref.deref()).length <= 1;
    });
  });
});
