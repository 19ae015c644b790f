import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { GraphQLScalarType } from 'graphql';
import type { ExecutionContext } from '../../src/context/context.ts';
import { leakContext, rows } from './leak-resolvers.ts';
import type { Row } from './leak-resolvers.ts';
import { createStage, factsOf } from './stage.ts';

const SDL = `
  type Subscription { secret: Secret @kafka(topic: "t", payload: "secret") }
  type Secret { id: ID value: Any shared_by_all: ID }
  scalar Any`;
const QUERY = 'subscription { secret { id value } }';
const CHANNEL = 't{}';

const open = { secret: { id: 'open', is_private: false } };
const hidden = { secret: { id: 'hidden', is_private: true } };

function people() {
  const alice = { user: 'alice', tenant: 'acme', roles: ['buyer', 'admin'], org: { name: 'A' }, is_admin: true };
  const bob = { user: 'bob', tenant: 'acme', roles: ['buyer'], org: { name: 'B' } };
  return [
    factsOf('a1', alice, ['Authorization', 'Bearer alice'], { locale: 'en' }),
    factsOf('a2', alice, ['Authorization', 'Bearer alice'], { locale: 'en' }),
    factsOf('bob', bob, ['Authorization', 'Bearer bob'], { locale: 'de' }),
  ];
}

function stageOf(t: TestContext, { resolve }: Row, options: { jitAfterUses?: number; forgetsReads?: boolean } = {}) {
  return createStage(t, {
    sdl: SDL,
    resolvers: { Secret: { value: resolve }, Any: new GraphQLScalarType({ name: 'Any' }) },
    context: leakContext,
    ...options,
  });
}

for (const jitAfterUses of [0, 1]) {
  describe(`a shared result, ${jitAfterUses === 0 ? 'interpreted' : 'compiled'}`, () => {
    for (const row of rows) {
      it(`goes to nobody whose own would differ: a resolver that reads ${row.name}`, async (t) => {
        const stage = await stageOf(t, row, { jitAfterUses });
        const listeners = await Promise.all(people().map((facts) => stage.join(QUERY, facts)));
        await stage.publish(CHANNEL, open);
        await stage.publish(CHANNEL, hidden, open, hidden);
        const before = stage.executions;
        await stage.publish(CHANNEL, hidden);
        for (const { received, alone } of listeners) assert.deepEqual(received, alone);
        assert.equal(stage.executions - before, row.executions);
      });
    }
  });
}

describe('the record of reads', () => {
  it('is what keeps them apart: without it every resolver of the table that reads who asks leaks', async (t) => {
    for (const row of rows.filter(({ executions }) => executions > 1)) {
      const stage = await stageOf(t, row, { forgetsReads: true });
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

  for (const jitAfterUses of [0, 1]) {
    for (const [what, write] of Object.entries(writers)) {
      it(`takes nothing from a resolver that ${what}, JIT_AFTER_USES=${jitAfterUses}`, async (t) => {
        const resolve = (source: Record<string, unknown>, _: unknown, context: ExecutionContext) => {
          const result = write(source, context);
          return result instanceof Promise ? result.then(() => source) : source;
        };
        const stage = await createStage(t, { sdl: SDL, resolvers: { Secret: { value: resolve } }, jitAfterUses });
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
  for (const jitAfterUses of [0, 1]) {
    it(`keeps nothing that a resolver wrote into it, JIT_AFTER_USES=${jitAfterUses}`, async (t) => {
      const value = (_: unknown, { filter }: { filter: Record<string, unknown> }, { connection }: ExecutionContext) =>
        (filter['user'] ??= connection.claims['user']);
      const sdl = SDL.replace('value:', 'value(filter: Any):');
      const stage = await createStage(t, { sdl, resolvers: { Secret: { value } }, jitAfterUses });
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

describe('who may subscribe', () => {
  it('is asked for each connection, and reads of the answer do not hinder sharing', async (t) => {
    const stage = await createStage(t, {
      sdl: SDL,
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
