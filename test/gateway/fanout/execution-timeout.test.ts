import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { ExecutionContext } from '../../../src/graph/context/context.ts';
import { Cursors } from '../../../src/gateway/fanout/resume/cursor.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createStage, factsOf } from './stage.ts';

const SDL = `
  type Subscription { item: Item @kafka(topic: "t", payload: "item") }
  type Item { n: Int slow: Int }`;
const QUERY = 'subscription { item { n slow } }';
const CHANNEL = 't{}';

const never = new Promise<number>(() => undefined);

/** A stage whose field `slow` has the given resolver. It receives the number of its call, from 1. */
async function createSlow(t: TestContext, slow: (call: number, n: number, context: ExecutionContext) => unknown) {
  const failures: unknown[] = [];
  let calls = 0;
  const stage = await createStage(t, {
    sdl: SDL,
    resolvers: {
      Item: { slow: ({ n }: { n: number }, _: object, context: ExecutionContext) => slow(++calls, n, context) },
    },
    cursors: new Cursors('secret'),
    // The tests count the executions that members wait for.
    hasSharing: true,
    executionTimeoutMs: 50,
    onFailure: (error) => void failures.push((error as { code?: unknown }).code),
  });
  const { bus } = stage;
  await bus.acquire({ topic: 't', partition: 0, position: -1 });
  let next = 0;
  const publish = async () => {
    const offset = next++;
    const history = { entries: 100, bytes: 1_000_000, seconds: 60 };
    const payload = JSON.stringify({ item: { n: offset } });
    await bus.publish([{ channel: CHANNEL, payload, offset, timestamp: 0, history }], { topic: 't', partition: 0, offset }); // prettier-ignore
  };
  const join = async (id: string, cursor?: string, claims = {}) => {
    const start = cursor === undefined ? undefined : { cursor, replaysLast: false };
    const { received } = await stage.join(QUERY, factsOf(id, claims), undefined, start);
    const events = () =>
      received.map((text) => JSON.parse(text) as { data: { item: unknown }; extensions: { cursor: string } });
    return { items: () => events().map(({ data }) => data.item), cursor: () => events()[0]!.extensions.cursor };
  };
  return { stage, failures, publish, join };
}

describe('an execution that never settles', () => {
  it('ends its operation at its deadline; the other operations receive this event and the next ones in order', async (t) => {
    const { stage, failures, publish, join } = await createSlow(t, (call, n) => (call === 1 ? never : n));
    const members = [await join('a'), await join('b'), await join('c')];
    for (let n = 0; n < 3; n++) await publish();
    const [first, ...others] = members;
    await waitFor('the events', () => others.every(({ items }) => items().length === 3));
    for (const { items } of others)
      assert.deepEqual(
        items(),
        [0, 1, 2].map((n) => ({ n, slow: n })),
      );
    assert.deepEqual([failures, first!.items()], [['ERR_EXECUTION_TIMEOUT'], []]);
    // The first event is executed twice.
    assert.equal(stage.executions, 4);
  });

  it('ends a waiting operation at its second deadline, and does not start an execution for each waiting operation', async (t) => {
    const { stage, failures, publish, join } = await createSlow(t, (_, n) => (n === 0 ? never : n));
    const members = await Promise.all(Array.from({ length: 20 }, (_, i) => join(`c${i}`)));
    await publish();
    await waitFor('the failures', () => failures.length === 20);
    assert.deepEqual([stage.executions, new Set(failures)], [2, new Set(['ERR_EXECUTION_TIMEOUT'])]);
    for (const { items } of members) assert.deepEqual(items(), []);
    const later = await join('later');
    await publish();
    await waitFor('the next event', () => later.items().length === 1);
    assert.deepEqual(later.items(), [{ n: 1, slow: 1 }]);
  });

  it('ends no operation that waited for a settled execution before it waited for this one', async (t) => {
    // The facts that the first execution reads put the others into another answer class.
    const { failures, publish, join } = await createSlow(t, async (call, n, { connection }) => {
      await Promise.resolve();
      assert.ok(connection.claims['role']);
      return call === 2 ? never : n;
    });
    await join('first', undefined, { role: 'admin' });
    const [hanging, ...others] = await Promise.all(['b', 'c', 'd'].map((id) => join(id, undefined, { role: 'user' })));
    await publish();
    await waitFor('the event', () => others.every(({ items }) => items().length === 1) || failures.length > 1);
    assert.deepEqual([hanging!.items(), failures], [[], ['ERR_EXECUTION_TIMEOUT']]);
  });

  it('sends nothing if it settles after its deadline, and delivers no result twice', async (t) => {
    let settle = (): void => undefined;
    const late = new Promise<number>((resolve) => (settle = () => resolve(0)));
    const { failures, publish, join } = await createSlow(t, (call, n) => (call === 1 ? late : n));
    const [first, other] = [await join('a'), await join('b')];
    await publish();
    await waitFor('the event', () => other.items().length === 1);
    settle();
    await publish();
    await waitFor('the next event', () => other.items().length === 2);
    assert.deepEqual([first.items(), other.items().length, failures.length], [[], 2, 1]);
  });

  it('reports no execution that settled before its deadline, even if other executions are slow', async (t) => {
    const { failures, publish, join } = await createSlow(t, (call, n) =>
      call === 1 ? Promise.resolve(n) : call === 2 ? never : n,
    );
    const [first, second] = [await join('a'), await join('b')];
    await publish();
    await waitFor('the first event', () => first.items().length === 1 && second.items().length === 1);
    await publish();
    await waitFor('the second event', () => second.items().length === 2);
    assert.deepEqual([first.items().length, failures.length], [1, 1]);
  });

  it('holds no resuming client after its deadline', async (t) => {
    const { failures, publish, join } = await createSlow(t, (call, n) => (call === 2 ? never : n));
    const witness = await join('w');
    await publish();
    await waitFor('the first event', () => witness.items().length === 1);
    const cursor = witness.cursor();
    const resuming = Promise.all([join('a', cursor), join('b', cursor)]);
    await publish();
    await waitFor('the failure', () => failures.length === 1);
    const members = [witness, ...(await resuming)];
    await publish();
    const alive = () => members.filter(({ items }) => (items().at(-1) as { n: number } | undefined)?.n === 2);
    await waitFor('the other clients', () => alive().length === 2);
  });
});
