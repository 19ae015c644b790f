import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import fc from 'fast-check';
import { GraphQLScalarType } from 'graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { ConnectionFacts } from '../../../../src/graph/context/connection-facts.ts';
import type { ExecutionContext } from '../../../../src/graph/context/context.ts';
import { IS_17 } from '../../../../src/graph/graphql-version.ts';
import type { Bus } from '../../../../src/bus/bus.ts';
import { HISTORY_DEFAULTS } from '../../../../src/bus/history.ts';
import { Deflater } from '../../../../src/gateway/fanout/outbox/deflater.ts';
import { Cursors } from '../../../../src/gateway/fanout/resume/cursor.ts';
import { ARGUMENTS, INPUT_TYPES, argumentWriters, infoKeys, leakContext, passings, rows } from './leak-resolvers.ts';
import type { Row } from './leak-resolvers.ts';
import { playSelection, selectionRows } from './leak-selections.ts';
import { accessProperty } from './random-access.ts';
import { DELIVERED_BESIDE_REVOCATION, renewalDifference, renewalProperty } from './random-renewals.ts';
import { paceProperty } from './random-pace.ts';
import { resolverProperty } from './random-resolvers.ts';
import { rowProperty } from './random-rows.ts';
import type { Fault } from './random-rows.ts';
import { selectionProperty } from './random-selections.ts';
import { switches } from '../../../support/switches.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { callbackOutboxes } from '../../callback/callback-outboxes.ts';
import { CatchUpReply } from '../../streams/catch-up-reply.ts';
import { createStage, factsOf } from '../stage.ts';
import type { StageOptions } from '../stage.ts';

type Stage = Awaited<ReturnType<typeof createStage>>;

const SDL = `
  type Subscription { secret: Secret @kafka(topic: "t", payload: "secret") }
  type Secret { id: ID value: Any shared_by_all: ID }
  scalar Any`;
const QUERY = 'subscription { secret { id value } }';
/** Its results compress. */
const LONG_QUERY = 'subscription { secret { id value id1: id id2: id id3: id id4: id id5: id id6: id } }';
const CHANNEL = 't{}';

const open = { secret: { id: 'open', is_private: false } };
const hidden = { secret: { id: 'hidden', is_private: true } };

function people() {
  const alice = { user: 'alice', tenant: 'acme', roles: ['buyer', 'admin'], org: { name: 'A' }, is_admin: true };
  const bob = { user: 'bob', tenant: 'acme', roles: ['buyer'], org: { name: 'B' } };
  return [
    factsOf('a1', alice, ['Authorization', 'Bearer alice', 'X-Region', 'eu'], { locale: 'en' }),
    factsOf('a2', alice, ['Authorization', 'Bearer alice', 'X-Region', 'us'], { locale: 'en' }),
    factsOf('bob', bob, ['Authorization', 'Bearer bob', 'X-Region', 'us'], { locale: 'de' }),
  ];
}

function withoutExtensions(text: string): string {
  return JSON.stringify({ ...(JSON.parse(text) as object), extensions: undefined });
}

type Mode = Required<Pick<StageOptions, 'jitAfterUses' | 'hasProjection'>>;

/** Without sharing these tests cannot fail: each listener gets the result of an execution of its own. */
const TRIVIAL = switches.SHARING ? '' : ', trivially: without sharing';

/** Executions of one event for `people()`. */
const executionsOf = ({ executions }: Row) => (switches.SHARING ? executions : people().length);

/** Events executed by graphql-js; compiled whole; and as a template with compiled slots. */
const MODES: readonly Mode[] = [
  { jitAfterUses: 0, hasProjection: true },
  { jitAfterUses: 1, hasProjection: false },
  { jitAfterUses: 1, hasProjection: true },
];
const AFTER_SOME: Mode = { jitAfterUses: 3, hasProjection: true };

function textOfMode({ jitAfterUses, hasProjection }: Mode): string {
  return `JIT_AFTER_USES=${jitAfterUses}, PROJECTION=${hasProjection}`;
}

function stageOf(t: TestContext, { resolve }: Row, options: Partial<StageOptions> = {}) {
  return createStage(t, {
    sdl: SDL,
    resolvers: { Secret: { value: resolve }, Any: new GraphQLScalarType({ name: 'Any' }) },
    context: leakContext,
    ...options,
  });
}

for (const mode of MODES) {
  describe(`a shared result, ${textOfMode(mode)}${TRIVIAL}`, () => {
    for (const row of rows) {
      it(`reaches no connection whose own result would differ, for a resolver that reads ${row.name} (S-57)`, async (t) => {
        const stage = await stageOf(t, row, mode);
        const listeners = await Promise.all(people().map((facts) => stage.join(QUERY, facts)));
        await stage.publish(CHANNEL, open);
        await stage.publish(CHANNEL, hidden, open, hidden);
        const before = stage.executions;
        await stage.publish(CHANNEL, hidden);
        for (const { received, alone } of listeners) assert.deepEqual(received, alone);
        assert.equal(stage.executions - before, executionsOf(row));
      });
    }
  });
}

describe(`a shared result beside the operations of a router's users${TRIVIAL}`, () => {
  const claims = { user: 'router', tenant: 'acme', roles: ['router'], org: { name: 'R' } };
  const router = factsOf('router', claims, ['Authorization', 'Bearer router', 'X-Region', 'eu'], { locale: 'en' });
  for (const row of rows) {
    it(`reaches no connection whose own result would differ, and those of the router at most once more, for a resolver that reads ${row.name}`, async (t) => {
      const stage = await stageOf(t, row, MODES.at(-1));
      const everybody = [router, ...people(), router, router];
      const listeners = await Promise.all(everybody.map((facts) => stage.join(QUERY, facts)));
      await stage.publish(CHANNEL, open);
      await stage.publish(CHANNEL, hidden, open, hidden);
      const before = stage.executions;
      await stage.publish(CHANNEL, hidden);
      for (const { received, alone } of listeners) assert.deepEqual(received, alone);
      if (switches.SHARING) assert.ok(stage.executions - before <= row.executions + 1);
    });
  }
});

describe(`a shared result that is compressed${TRIVIAL}`, () => {
  for (const row of rows) {
    it(`reaches no connection whose own result would differ, for a resolver that reads ${row.name} (S-57)`, async (t) => {
      const deflater = new Deflater(1);
      const stage = await stageOf(t, row, { ...MODES.at(-1)!, deflater });
      const listeners = await Promise.all(people().map((facts) => stage.join(LONG_QUERY, facts)));
      await stage.publish(CHANNEL, open);
      await stage.publish(CHANNEL, hidden, open, hidden);
      for (const { received, alone } of listeners) assert.deepEqual(received, alone);
      assert.ok(deflater.outputBytes < deflater.inputBytes, 'nothing was compressed');
    });
  }
});

describe(`a shared result that is posted to callbacks${TRIVIAL}`, () => {
  for (const row of rows) {
    it(`reaches no subscriber whose own result would differ, for a resolver that reads ${row.name} (S-57)`, async (t) => {
      const openOutbox = await callbackOutboxes(t);
      const stage = await stageOf(t, row, { ...MODES.at(-1)!, openOutbox });
      const listeners = await Promise.all(people().map((facts) => stage.join(QUERY, facts)));
      await stage.publish(CHANNEL, open);
      await stage.publish(CHANNEL, hidden, open, hidden);
      const before = stage.executions;
      await stage.publish(CHANNEL, hidden);
      for (const { received, alone } of listeners) assert.deepEqual(received, alone);
      assert.equal(stage.executions - before, executionsOf(row));
    });
  }
});

/** Publishes with a history, for the partition 0 that the test has acquired. @param first offset of the first payload */
async function publishKept(bus: Bus, payloads: readonly object[], first = 0): Promise<void> {
  const messages = payloads.map((payload, index) => {
    const offset = first + index;
    return { channel: CHANNEL, payload: JSON.stringify(payload), offset, timestamp: 0, history: HISTORY_DEFAULTS };
  });
  await bus.publish(messages, { topic: 't', partition: 0, offset: first + messages.length - 1 });
}

/** Reads no history before all of `people()` have joined: who replays before the others have joined may keep no result for them. */
function replayTogether(t: TestContext, stage: Stage): void {
  let begin!: () => void;
  const joining = new Promise<void>((resolve) => (begin = resolve));
  let asked = 0;
  const [hub, bus] = [stage.hub(), stage.bus];
  const join = hub.join.bind(hub);
  t.mock.method(hub, 'join', (...asks: Parameters<typeof join>) => {
    if (++asked === people().length) begin();
    return join(...asks);
  });
  const read = bus.history.bind(bus);
  t.mock.method(bus, 'history', async (...reads: Parameters<typeof read>) => {
    await joining;
    return read(...reads);
  });
}

for (const mode of MODES) {
  describe(`a result of a replay, ${textOfMode(mode)}${TRIVIAL}`, () => {
    for (const row of rows) {
      it(`reaches no connection whose own result would differ, for a resolver that reads ${row.name} (S-57)`, async (t) => {
        const cursors = new Cursors('secret');
        const stage = await stageOf(t, row, { ...mode, cursors });
        const { bus } = stage;
        await bus.acquire({ topic: 't', partition: 0, position: -1 });
        const payloads = [open, hidden, hidden, open, hidden, hidden];
        await publishKept(bus, payloads);
        const { entries } = await bus.history(CHANNEL, { from: '1', maxEntries: 10, maxBytes: 10_000 });
        // Two cursors: events after both are shared between their clients, too.
        const starts = [0, 1, 0].map((index) => {
          const { entry = '', ...position } = entries[index]!.coordinates;
          return { cursor: cursors.sign(CHANNEL, { ...position, entry }), replaysLast: false };
        });
        replayTogether(t, stage);
        const listeners = await Promise.all(people().map((facts, i) => stage.join(QUERY, facts, undefined, starts[i])));
        await waitFor('all events', () => listeners.every(({ received }, i) => received.length === (i === 1 ? 4 : 5)));
        const { executions } = stage;
        for (const { received, alone, execute } of listeners) {
          for (const payload of payloads.slice(-received.length)) alone.push(await execute(payload));
          assert.deepEqual(received.map(withoutExtensions), alone);
        }
        assert.ok(executions <= 5 * executionsOf(row), `${executions} executions of 5 events`);
      });
    }
  });
}

/** Replies to each of `people()` with four missed events, then with one that they wait for. */
async function catchUp(t: TestContext, row: Row, options: Partial<StageOptions> = {}) {
  const cursors = new Cursors('secret');
  const replies = new Map<string, CatchUpReply>();
  const openOutbox = (id: string, onMessage: (text: string) => void) =>
    replies.get(id)!.outbox((payload) => onMessage(JSON.stringify({ payload })));
  const stage = await stageOf(t, row, { ...MODES.at(-1)!, cursors, openOutbox, ...options });
  const missed = [hidden, hidden, open, hidden];
  await stage.bus.acquire({ topic: 't', partition: 0, position: -1 });
  await publishKept(stage.bus, [open, ...missed]);
  const { entries } = await stage.bus.history(CHANNEL, { from: '1', maxEntries: 10, maxBytes: 10_000 });
  const { entry = '', ...position } = entries[0]!.coordinates;
  replayTogether(t, stage);
  const ask = async (facts: ConnectionFacts, cursor: string) => {
    const reply = new CatchUpReply(cursor);
    replies.set(facts.id, reply);
    return { reply, listener: await stage.join(QUERY, facts, undefined, reply.start) };
  };
  const first = cursors.sign(CHANNEL, { ...position, entry });
  const asked = await Promise.all(people().map((facts) => ask(facts, first)));
  await waitFor('the replies', () => asked.every(({ reply }) => reply.nextCursor !== undefined));
  const { executions } = stage;
  for (const { listener } of asked) {
    for (const payload of missed) listener.alone.push(await listener.execute(payload));
    listener.leave();
  }
  const waiting = await Promise.all(people().map((facts, i) => ask(facts, asked[i]!.reply.nextCursor!)));
  await waitFor('the wait', () => waiting.every(({ reply }) => reply.isCaughtUp));
  await publishKept(stage.bus, [hidden], 1 + missed.length);
  await waitFor('the event', () => waiting.every(({ reply }) => reply.nextCursor !== undefined));
  for (const { listener } of waiting) listener.alone.push(await listener.execute(hidden));
  const results = [...asked, ...waiting].map(({ listener: { received, alone } }) => ({
    received: received.map(withoutExtensions),
    alone,
  }));
  return { results, executions };
}

describe(`a reply with what was missed${TRIVIAL}`, () => {
  for (const row of rows) {
    it(`has for no connection a result that differs from its own, for a resolver that reads ${row.name} (S-57)`, async (t) => {
      const { results, executions } = await catchUp(t, row);
      assert.equal(results.length, 2 * people().length);
      for (const { received, alone } of results) assert.deepEqual(received, alone);
      assert.ok(executions <= 4 * executionsOf(row), `${executions} executions of 4 events`);
    });
  }

  it('would have the results of others without the record of reads (twin)', async (t) => {
    for (const row of rows.filter(({ executions }) => executions > 1)) {
      const { results } = await catchUp(t, row, { forgetsReads: true, hasSharing: true });
      assert.ok(
        results.some(({ received, alone }) => received.join() !== alone.join()),
        row.name,
      );
    }
  });
});

describe(`an event of a field with @redis${TRIVIAL}`, () => {
  const sdl = SDL.replace('@kafka(topic: "t", payload: "secret")', '@redis(channel: "secrets", payload: "secret")');

  for (const row of rows) {
    it(`reaches no connection whose own result would differ, for a resolver that reads ${row.name} (S-57)`, async (t) => {
      const stage = await stageOf(t, row, { sdl });
      const listeners = await Promise.all(people().map((facts) => stage.join(QUERY, facts)));
      for (const payload of [open, hidden, open, hidden]) {
        await stage.bus.send('secrets', JSON.stringify(payload));
        for (const { alone, execute } of listeners) alone.push(await execute(payload));
      }
      await waitFor('all results', () => listeners.every(({ received }) => received.length === 4));
      for (const { received, alone } of listeners) assert.deepEqual(received, alone);
      const before = stage.executions;
      await stage.bus.send('secrets', JSON.stringify(hidden));
      await waitFor('the last results', () => listeners.every(({ received }) => received.length === 5));
      assert.equal(stage.executions - before, executionsOf(row));
    });
  }
});

describe('the record of reads', () => {
  it('prevents leaks: without it every resolver of the table that reads the connection leaks (twin of S-57, S-61 and S-62)', async (t) => {
    for (const row of rows.filter(({ executions }) => executions > 1)) {
      const stage = await stageOf(t, row, { forgetsReads: true, hasSharing: true });
      const listeners = await Promise.all(people().map((facts) => stage.join(QUERY, facts)));
      await stage.publish(CHANNEL, hidden);
      assert.ok(
        listeners.some(({ received, alone }) => received[0] !== alone[0]),
        row.name,
      );
    }
  });
});

describe('the payload, which all executions of an event share', () => {
  const user = ({ connection }: ExecutionContext) => connection.claims['user'];
  const writers: Record<string, (source: Record<string, unknown>, context: ExecutionContext) => unknown> = {
    'keeps what it computed in its source': (source, context) => (source['whose'] ??= user(context)),
    'adds to a list of its source': (source, context) => (source['list'] as unknown[]).push(user(context)),
    'merges into an object of its source': (source, context) =>
      Object.assign(source['inner'] as object, { whose: user(context) }),
    'adds to it after an await': async (source, context) => {
      await Promise.resolve();
      return (source['whose'] ??= user(context));
    },
  };
  const secret = { id: 'hidden', list: [], inner: {} };

  for (const mode of MODES) {
    for (const [what, write] of Object.entries(writers)) {
      it(`is not changed by a resolver that ${what}, ${textOfMode(mode)}`, async (t) => {
        const resolve = (source: Record<string, unknown>, _: unknown, context: ExecutionContext) => {
          const result = write(source, context);
          return result instanceof Promise ? result.then(() => source) : source;
        };
        const stage = await createStage(t, { sdl: SDL, resolvers: { Secret: { value: resolve } }, ...mode });
        const listeners = await Promise.all(people().map((facts) => stage.join(QUERY, facts)));
        for (let i = 0; i < 3; i++) await stage.publish(CHANNEL, { secret });
        for (const { received, alone } of listeners) {
          assert.deepEqual(received, alone);
          for (const text of received) assert.doesNotMatch(text, /alice|bob/);
        }
      });
    }
  }
});

describe('an object that a client sent for a custom scalar', () => {
  for (const mode of MODES) {
    it(`keeps no value that a resolver wrote into it, ${textOfMode(mode)}`, async (t) => {
      const value = (_: unknown, { filter }: { filter: Record<string, unknown> }, { connection }: ExecutionContext) =>
        (filter['user'] ??= connection.claims['user']);
      const sdl = SDL.replace('value:', 'value(filter: Any):');
      const stage = await createStage(t, { sdl, resolvers: { Secret: { value } }, ...mode });
      const query = 'subscription ($filter: Any) { secret { id value(filter: $filter) } }';
      const listeners = await Promise.all(people().map((facts) => stage.join(query, facts, { filter: {} })));
      for (let i = 0; i < 3; i++) await stage.publish(CHANNEL, hidden);
      for (const { received, alone } of listeners) {
        assert.deepEqual(received, alone);
        for (const text of received) assert.doesNotMatch(text, /alice|bob/);
      }
    });
  }
});

/** Results of five events for Alice, her second connection and Bob. Fails if one of them names another user. */
async function assertNamesNobodyElse(stage: Stage, query: string, variables?: () => Record<string, unknown>) {
  const listeners = await Promise.all(people().map((facts) => stage.join(query, facts, variables?.())));
  for (let i = 0; i < 5; i++) await stage.publish(CHANNEL, hidden);
  for (const { received, facts } of listeners) {
    const other = facts.claims['user'] === 'alice' ? /bob/ : /alice/;
    for (const text of received) assert.doesNotMatch(text, other);
  }
  return listeners;
}

describe('arguments', () => {
  for (const [how, [field, definitions = '', sent]] of Object.entries(passings)) {
    for (const mode of [...MODES, AFTER_SOME]) {
      it(`carry no data of another user to a resolver that writes to them, ${how}, ${textOfMode(mode)}`, async (t) => {
        for (const [what, write] of Object.entries(argumentWriters())) {
          const value = (_: unknown, args: Record<string, unknown>, { connection }: ExecutionContext) => {
            const before = JSON.stringify(args);
            try {
              return [before, write(args, connection.claims['user']), JSON.stringify(args)];
            } catch (error) {
              return [before, String(error)];
            }
          };
          const sdl = `${SDL.replace('value:', `value${ARGUMENTS}:`)} ${INPUT_TYPES}`;
          const stage = await createStage(t, {
            sdl,
            resolvers: { Secret: { value }, Any: new GraphQLScalarType({ name: 'Any' }) },
            ...mode,
          });
          const query = `subscription ${definitions} { secret { id ${field} } }`;
          const listeners = await assertNamesNobodyElse(stage, query, () => structuredClone(sent ?? {}));
          for (const { received } of listeners) {
            assert.equal(new Set(received).size, 1, `${what}: ${received.join('\n')}`);
          }
        }
      });
    }
  }
});

describe('a resolver that reads facts, and writes to its arguments, at random', () => {
  it('gives each connection the result of graphql-js alone', () => fc.assert(resolverProperty(), { numRuns: 40 }));
});

for (const mode of MODES) {
  describe(`an event that arguments or its record select, ${textOfMode(mode)}${TRIVIAL}`, () => {
    for (const row of selectionRows) {
      it(`reaches each connection that must have it with a result of its own, for ${row.name} (S-57)`, async (t) => {
        const { listeners, executions } = await playSelection(t, row, mode);
        // Between channels there is no order.
        for (const { received, alone } of listeners) assert.deepEqual(received.toSorted(), alone.toSorted());
        const [alice, , bob] = listeners.map(({ alone }) => alone.length);
        if (switches.SHARING) assert.ok(executions <= alice! + bob!, `${executions} executions`);
      });
    }
  });
}

describe('an event that arguments or its record select', () => {
  for (const row of selectionRows) {
    it(`would show one user what another one selected or may see, for ${row.name} (twin)`, async (t) => {
      const { listeners } = await playSelection(t, row, { ...row.twin, hasSharing: true });
      assert.ok(listeners.some(({ received, alone }) => received.toSorted().join() !== alone.toSorted().join()));
    });
  }
});

describe('a list, where and @record with random arguments', () => {
  it('give each connection the events of its arguments, once, with the result of graphql-js alone', () =>
    fc.assert(selectionProperty(), { numRuns: 60 }));

  it('would give a connection the data of another one without the record of reads (twin)', async () => {
    const options = { forgetsReads: true, hasSharing: true };
    const { failed } = await fc.check(selectionProperty(options), { numRuns: 300, endOnFailure: true });
    assert.equal(failed, true);
  });
});

describe('a table that changes at random, with filters, tenants, deletes, rows that leave, and clients that resume', () => {
  it('gives each connection the changes of the rows that it may see, and nothing of another tenant or user', () =>
    fc.assert(rowProperty(), { numRuns: 150 }));

  const twins: [what: string, options: Partial<StageOptions>, fault: Fault][] = [
    ['without the record of reads', { forgetsReads: true, hasSharing: true }, {}],
    ['if filters shared their results', { hasOneSharingKey: true, hasSharing: true }, {}],
    ['if a row before were believed that was in a channel of another tenant', {}, { believesBefore: true }],
    ['if filters did not know the row before', {}, { forgetsBefore: true }],
  ];
  for (const [what, options, fault] of twins) {
    it(`would not, ${what} (twin)`, async () => {
      const { failed } = await fc.check(rowProperty(options, fault), { numRuns: 300, endOnFailure: true });
      assert.equal(failed, true);
    });
  }
});

describe('events at random, for clients with paces and slow sockets that join, leave and resume', () => {
  it('reach each connection in order, with a result of its own, up to the newest of each key, and none is left out silently', () =>
    fc.assert(paceProperty(), { numRuns: 100 }));

  it('would give a connection the data of another one without the record of reads (twin)', async () => {
    const options = { forgetsReads: true, hasSharing: true };
    const { failed } = await fc.check(paceProperty(options), { numRuns: 300, endOnFailure: true });
    assert.equal(failed, true);
  });
});

describe('directives and authorize functions on fields and types, at random', () => {
  it('give each connection the result of graphql-js alone, in one execution for all with equal answers', () =>
    fc.assert(accessProperty(), { numRuns: 150 }));
});

describe('info', () => {
  for (const mode of [...MODES, AFTER_SOME]) {
    for (const [name, key] of Object.entries(infoKeys)) {
      it(`belongs to one execution: a WeakMap keyed by ${name} leaks no user, ${textOfMode(mode)}`, async (t) => {
        const stage = await createStage(t, {
          sdl: `${SDL.replace('value:', 'other: Other items: [Other] method: Method value:')}
            type Other { value: Any } type Method { value: Any } union One = Other extend type Secret { one: One }`,
          resolvers: remembering(key),
          ...mode,
        });
        await assertNamesNobodyElse(
          stage,
          'subscription { secret { id value other { value } items { value } method { value } one { ... on Other { value } } } }',
        );
      });
    }
  }

  for (const mode of [...MODES, AFTER_SOME]) {
    const skip = IS_17 && mode.jitAfterUses !== 1 && 'graphql-js 17 makes a list for each call';
    it(`has one fieldNodes for all items of a list, as batching needs, ${textOfMode(mode)}`, { skip }, async (t) => {
      const seen: unknown[] = [];
      const value = (_: unknown, __: unknown, { connection }: ExecutionContext, info: GraphQLResolveInfo) => {
        seen.push(info.fieldNodes);
        return connection.id;
      };
      const stage = await createStage(t, {
        sdl: `${SDL.replace('value:', 'items: [Item] value:')} type Item { value: Any }`,
        resolvers: { Item: { value } },
        ...mode,
      });
      const query = 'subscription { secret { items { value } } }';
      await Promise.all(people().map((facts) => stage.join(query, facts)));
      for (let i = 0; i < 5; i++) await stage.publish(CHANNEL, { secret: { items: [{}, {}, {}] } });
      for (let i = 0; i < seen.length; i += 3) assert.equal(new Set(seen.slice(i, i + 3)).size, 1);
      assert.equal(new Set(seen).size, seen.length / 3);
    });
  }
});

/** Resolvers of all kinds that remember the first user, keyed by an object of `info`. */
function remembering(key: (info: GraphQLResolveInfo) => object): Record<string, unknown> {
  const memory = new WeakMap<object, unknown>();
  const remember = (_: unknown, __: unknown, { connection }: ExecutionContext, info: GraphQLResolveInfo) => {
    const user = connection.claims['user'];
    if (!memory.has(key(info))) memory.set(key(info), user);
    return memory.get(key(info));
  };
  return {
    Secret: {
      value: remember,
      other: (...all: Parameters<typeof remember>) => ({ value: remember(...all) }),
      items: () => [{}, {}],
      method: () => ({ value: (...all: Tail<Parameters<typeof remember>>) => remember(undefined, ...all) }),
      one: () => ({}),
    },
    One: {
      __resolveType: (source: { value?: unknown }, context: ExecutionContext, info: GraphQLResolveInfo) => {
        source.value = remember(undefined, undefined, context, info);
        return 'Other';
      },
    },
    Any: new GraphQLScalarType({ name: 'Any' }),
  };
}

type Tail<List extends unknown[]> = List extends [unknown, ...infer Others] ? Others : never;

describe('authorize', () => {
  for (const [what, type] of Object.entries({ 'an input object': 'Filter', 'a custom scalar': 'Any' })) {
    it(`cannot change the arguments of the subscription by writing into ${what}`, async (t) => {
      const stage = await createStage(t, {
        sdl: `${SDL.replace('secret:', `secret(filter: ${type}):`)} input Filter { owner: String }`,
        resolvers: {
          Any: new GraphQLScalarType({ name: 'Any', parseValue: (value) => ({ ...(value as object) }) }),
          Subscription: {
            secret: {
              authorize: ({ filter }: { filter: { owner?: string } }) => void (filter.owner = 'anybody'),
              resolve: (_: unknown, { filter }: { filter: { owner: string } }) => ({ value: filter.owner }),
            },
          },
        },
      });
      const query = `subscription ($filter: ${type}) { secret(filter: $filter) { value } }`;
      const join = (facts: ConnectionFacts) => stage.join(query, facts, { filter: { owner: facts.claims['user'] } });
      const listeners = await Promise.all(people().map(join));
      await stage.publish(CHANNEL, hidden);
      for (const { received, facts } of listeners) assert.match(received[0]!, new RegExp(String(facts.claims['user'])));
    });
  }

  it('cannot move the subscription to another channel by assigning an argument', async (t) => {
    const stage = await createStage(t, {
      sdl: SDL.replace('secret:', 'secret(id: ID):').replace(
        'payload:',
        'match: [{ arg: "id", path: "secret.id" }], payload:',
      ),
      resolvers: {
        Subscription: { secret: { authorize: (args: Record<string, unknown>) => void (args['id'] = 'other') } },
      },
    });
    await assert.rejects(
      stage.join('subscription { secret(id: "open") { id } }', people()[0]!),
      /Internal server error/,
    );
  });

  it('runs for each connection, and its reads do not prevent sharing', async (t) => {
    const stage = await createStage(t, {
      sdl: SDL,
      hasSharing: true,
      resolvers: {
        Subscription: {
          secret: {
            authorize: (_: unknown, { connection }: { connection: { claims: Record<string, unknown> } }) =>
              connection.claims['user'] === 'alice',
          },
        },
      },
    });
    const [first, second, bob] = people();
    const listeners = [await stage.join(QUERY, first!), await stage.join(QUERY, second!)];
    await assert.rejects(stage.join(QUERY, bob!), /Not allowed/);
    await stage.publish(CHANNEL, hidden);
    assert.equal(stage.executions, 1);
    for (const { received } of listeners) assert.equal(received.length, 1);
  });
});

describe('claims that change, and users that are revoked, while events are executed at random', () => {
  it('reach no result of an execution that began after the change, no revoked user, and lose no event (S-16, S-60)', () =>
    fc.assert(renewalProperty(), { numRuns: 200, examples: [[DELIVERED_BESIDE_REVOCATION]] }));

  const twins = [
    ['a result of an earlier execution if facts changed in place', { replacesFacts: false }],
    ['a revoked user if a revocation closed no connection', { closesRevoked: false }],
    ['a revoked user if a refresh were not compared with revocations', { refusesRevoked: false }],
  ] as const;
  for (const [what, options] of twins) {
    it(`would reach ${what} (twin)`, async () => {
      const { failed } = await fc.check(renewalProperty(options), { numRuns: 1000 });
      assert.equal(failed, true);
    });
  }

  it('give the same results with sharing and without', () => fc.assert(renewalDifference(), { numRuns: 100 }));
});
