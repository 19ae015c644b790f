import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { GraphQLScalarType } from 'graphql';
import type { GraphQLResolveInfo } from 'graphql';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import type { ExecutionContext } from '../../../../src/graph/context/context.ts';
import { firstDifference } from '../../../../src/gateway/fanout/sharing/result-difference.ts';
import { SharingAudit } from '../../../../src/gateway/fanout/sharing/sharing-audit.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { leakContext, rows } from './leak-resolvers.ts';
import { createStage, factsOf } from '../stage.ts';

const SDL = `
  type Subscription { secret: Secret @kafka(topic: "t", payload: "secret") }
  type Secret { id: ID value: Any }
  scalar Any`;
const QUERY = 'subscription { mine: secret { id ...S } } fragment S on Secret { v: value }';

type Line = Record<string, unknown> & { readonly msg: string };
type Resolver = (source: object, args: unknown, context: ExecutionContext, info: GraphQLResolveInfo) => unknown;

/** A stage whose shared deliveries are all audited, with three members: Alice, Bob and Carol. */
async function auditedStage(t: TestContext, value: unknown, jitAfterUses = 1) {
  const lines: Line[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
  const stage = await createStage(t, {
    sdl: SDL,
    resolvers: { Secret: { value }, Any: new GraphQLScalarType({ name: 'Any' }) },
    context: leakContext,
    jitAfterUses,
    hasSharing: true,
    audit: 1,
    log,
  });
  for (const user of ['alice', 'bob', 'carol'])
    await stage.join(QUERY, factsOf(user, { user, tenant: 'acme', roles: [], org: {} }));
  return { stage, lines };
}

const userOf = ({ connection }: ExecutionContext) => connection.claims['user'];

describe('the sharing audit', () => {
  const memory = new WeakMap<object, unknown>();
  const remember = (key: object, context: ExecutionContext) => {
    if (!memory.has(key)) memory.set(key, userOf(context));
    return memory.get(key);
  };
  const faults: Record<string, Resolver> = {
    'the payload': (source, _, context) => ({ owner: remember(source, context) }),
    'a node of the document': (_, __, context, { fieldNodes }) => remember(fieldNodes[0]!, context),
  };
  for (const [what, value] of Object.entries(faults)) {
    for (const jitAfterUses of [0, 1]) {
      it(`names a resolver that remembers a user, keyed by ${what}, JIT_AFTER_USES=${jitAfterUses}`, async (t) => {
        const { stage, lines } = await auditedStage(t, value, jitAfterUses);
        for (let i = 0; i < 3; i++) await stage.publish('t{}', { secret: { id: '1' } });
        await waitFor('the outcome', () => stage.outcomes.includes('differs_by_user'));
        const line = lines.find(({ msg }) => msg.includes("is not what the member's own execution gives"));
        assert.deepEqual([line?.['field'], line?.['path']], ['mine', 'mine.v']);
        assert.match(line!.msg, /@kafka\(shared: false\)/);
      });
    }
  }

  const defaults: { owner?: unknown } = {};
  const keepers: Record<string, Resolver> = {
    'a default of its own': (_, __, context) => (defaults.owner ??= userOf(context)),
    'a memory by the payload, after an await': async (source, _, context) => {
      await Promise.resolve();
      return remember(source, context);
    },
  };
  for (const [where, value] of Object.entries(keepers)) {
    it(`names a resolver that keeps a user in ${where}, when executions read different facts`, async (t) => {
      const { stage, lines } = await auditedStage(t, value);
      await stage.publish('t{}', { secret: { id: '1' } });
      await waitFor('the outcome', () => stage.outcomes.includes('reads_differ'));
      const line = lines.find(({ msg }) => msg.includes('read different facts'));
      assert.deepEqual(
        [line?.['field'], line?.['fields'], line?.['read']],
        ['mine', ['mine.v'], [[], ['claims.user']]],
      );
    });
  }

  it('logs its own failure, and ends no operation', async (t) => {
    const kept: { owner?: unknown } = {};
    const keep: Resolver = (_, __, context) => (kept.owner ??= userOf(context));
    const { stage, lines } = await auditedStage(t, keep);
    stage.outcomes.push = () => {
      throw new Error('of the observer');
    };
    // Each listener gets its result; a listener whose operation ends fails the test.
    await stage.publish('t{}', { secret: { id: '1' } }, { secret: { id: '2' } });
    const [line] = lines.filter(({ msg }) => msg === 'sharing audit: a check failed');
    assert.equal((line?.['err'] as Error | undefined)?.message, 'of the observer');
  });

  for (const [what, value] of Object.entries({ chance: () => Math.random(), 'a counter': counter(), time: clock() })) {
    it(`tells a resolver that depends on ${what} from one that mixes users`, async (t) => {
      const { stage, lines } = await auditedStage(t, value);
      await stage.publish('t{}', { secret: { id: '1' } });
      await waitFor('the outcomes', () => stage.outcomes.length === 2);
      assert.deepEqual(stage.outcomes, ['differs_by_chance', 'differs_by_chance']);
      assert.deepEqual(
        lines.map(({ level, path, suppressed }) => [level, path, suppressed]),
        [[pino.levels.values['warn'], 'mine.v', 0]],
      );
    });
  }

  it('names a resolver that read no user in the first of several executions', async (t) => {
    let calls = 0;
    const value = async ({ id }: { id: string }, _: unknown, context: ExecutionContext) =>
      Promise.resolve(id === 'differs' && calls++ === 0 ? null : userOf(context));
    const { stage, lines } = await auditedStage(t, value);
    // After the first event, executions are expected to read the user, so no member waits for another's execution.
    for (const id of ['same', 'differs']) await stage.publish('t{}', { secret: { id } });
    await waitFor('the outcome', () => stage.outcomes.includes('reads_differ'));
    assert.deepEqual([lines[0]!.level, lines[0]!['read']], [pino.levels.values['error'], [['claims.user'], []]]);
  });

  it('checks 16 deliveries of its sample at a time, each in a later turn and for 30 s at most', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const random = t.mock.method(Math, 'random', () => 0.49);
    const errors: unknown[] = [];
    const log = pino({ level: 'error' }, { write: (line: string) => void errors.push(JSON.parse(line)) });
    const audit = new SharingAudit({ share: 0.49, resolverPaths: () => [], log, onOutcome: () => undefined });
    const running: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
    const sample = async (count: number) => {
      const before = running.length;
      for (let i = 0; i < count; i++)
        audit.sample(() => new Promise((resolve, reject) => void running.push({ resolve, reject })));
      assert.equal(running.length, before);
      await nextTurn();
      return running.length - before;
    };
    assert.equal(await sample(1), 0);
    random.mock.mockImplementation(() => 0.48);
    assert.equal(await sample(20), 16);
    running[0]!.resolve();
    running[1]!.reject(new Error('of a check'));
    await nextTurn();
    assert.equal(errors.length, 1);
    assert.equal(await sample(20), 2);
    t.mock.timers.tick(29_999);
    assert.equal(await sample(20), 0);
    t.mock.timers.tick(1);
    await nextTurn();
    assert.equal(await sample(20), 16);
  });

  for (const jitAfterUses of [0, 1]) {
    it(`finds nothing in the resolvers of the leak table, JIT_AFTER_USES=${jitAfterUses}`, async (t) => {
      let audited = 0;
      for (const { name, resolve } of rows) {
        const { stage, lines } = await auditedStage(t, resolve, jitAfterUses);
        // A second connection that agrees with Alice's on everything but its id.
        await stage.join(QUERY, factsOf('alic2', { user: 'alice', tenant: 'acme', roles: [], org: {} }));
        for (const is_private of [false, true, true]) await stage.publish('t{}', { secret: { id: '1', is_private } });
        const shared = 3 * 4 - stage.executions;
        await waitFor('all outcomes', () => stage.outcomes.length === shared);
        assert.deepEqual(
          new Set(stage.outcomes),
          new Set(shared > 0 ? ['same'] : []),
          `${name}\n${JSON.stringify(lines)}`,
        );
        audited += shared;
      }
      assert.ok(audited > 100, String(audited));
    });
  }

  it('changes neither the results of members nor their order', async (t) => {
    const received = [];
    for (const audit of [undefined, 1]) {
      const stage = await createStage(t, {
        sdl: SDL,
        resolvers: {
          Secret: { value: async ({ id }: { id: string }) => Promise.resolve(id) },
          Any: new GraphQLScalarType({ name: 'Any' }),
        },
        ...(audit && { audit }),
      });
      const listeners = await Promise.all(['a', 'b', 'c'].map((id) => stage.join(QUERY, factsOf(id, {}))));
      await stage.publish('t{}', ...[1, 2, 3, 4, 5].map((id) => ({ secret: { id: String(id) } })));
      received.push(listeners.map((listener) => listener.received));
    }
    assert.deepEqual(received[1], received[0]);
  });
});

function counter(): () => number {
  let calls = 0;
  return () => calls++;
}

/** Advances once after it was read. */
function clock(): () => number {
  let now = 1;
  return () => {
    process.nextTick(() => (now = 2));
    return now;
  };
}

describe('the first difference of two results', () => {
  const rows: readonly [string, unknown, unknown, string | undefined][] = [
    ['a leaf', { data: { a: { b: [1, { c: 2 }] } } }, { data: { a: { b: [1, { c: 3 }] } } }, 'a.b.1.c'],
    ['a null', { data: { a: null } }, { data: { a: {} } }, 'a'],
    ['an object that is null', { data: { a: {} } }, { data: { a: null } }, 'a'],
    ['a leaf that is an object', { data: { a: 1 } }, { data: { a: {} } }, 'a'],
    ['an object that is a leaf', { data: { a: {} } }, { data: { a: 1 } }, 'a'],
    ['a shorter list', { data: { a: [1, 2] } }, { data: { a: [1] } }, 'a.1'],
    ['a list and an object', { data: { a: [] } }, { data: { a: {} } }, 'a'],
    ['an error', { data: {}, errors: [{ message: 'x', path: ['a', 0] }] }, { data: {} }, 'a.0'],
    ['an error without a path', { errors: [{ message: 'x' }] }, { errors: [{ message: 'y' }] }, 'errors'],
    [
      'only the id of a masked error',
      { errors: [{ extensions: { id: '1' } }] },
      { errors: [{ extensions: { id: '2' } }] },
      undefined,
    ],
    [
      'only the order of errors',
      { errors: [{ message: 'x' }, { message: 'y' }] },
      { errors: [{ message: 'y' }, { message: 'x' }] },
      undefined,
    ],
    ['nothing', { data: { a: 1 } }, { data: { a: 1 } }, undefined],
  ];
  for (const [what, a, b, expected] of rows) {
    it(`is ${expected ?? 'none'} where they differ in ${what}`, () => {
      assert.equal(firstDifference(JSON.stringify(a), JSON.stringify(b)), expected);
    });
  }
});
