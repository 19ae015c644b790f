import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GraphQLError } from 'graphql';
import type { AuthorizeField } from '../../../src/graph/graph-parts.ts';
import { createStage, factsOf } from '../../gateway/fanout/stage.ts';

const SDL = `
  type Query { order: Order }
  type Subscription { order: Order @kafka(topic: "t", payload: "order") }
  type Order { id: ID owner: ID total(unit: String = "EUR"): Int note: String items: [Item] }
  type Item { price: Int }`;
const order = { id: 1, owner: 'ida', total: 5, note: 'hello', items: [{ price: 1 }] };

const isOwner: AuthorizeField = (source, _, { connection }) =>
  (source as typeof order).owner === connection.claims['sub'];

interface Result {
  readonly data: { readonly order: Record<string, unknown> };
  readonly errors?: readonly { readonly message: string; readonly path: unknown; readonly extensions: object }[];
}

const MODES = [
  { jitAfterUses: 0, hasProjection: true },
  { jitAfterUses: 1, hasProjection: false },
  { jitAfterUses: 1, hasProjection: true },
];

describe('authorize of a field', () => {
  for (const mode of MODES) {
    const text = JSON.stringify(mode);
    it(`sees the source, the arguments and the connection, and decides before the resolver, ${text}`, async (t) => {
      const resolved: unknown[] = [];
      const total = {
        authorize: async (source: unknown, args: { unit?: string }, context: Parameters<AuthorizeField>[2]) => {
          await Promise.resolve();
          return args.unit === 'EUR' && (isOwner(source, args, context) as boolean);
        },
        resolve: (source: typeof order) => (resolved.push(source.id), source.total),
      };
      const stage = await createStage(t, {
        sdl: SDL,
        resolvers: { Order: { total, note: { authorize: isOwner } } },
        ...mode,
      });
      const query = 'subscription { order { id total note } }';
      const [ida, bob] = [
        await stage.join(query, factsOf('a', { sub: 'ida' })),
        await stage.join(query, factsOf('b', { sub: 'bob' })),
      ];
      for (let i = 0; i < 3; i++) await stage.publish('t{}', { order });
      assert.deepEqual(ida.received, ida.alone);
      assert.deepEqual(bob.received, bob.alone);
      assert.deepEqual(JSON.parse(ida.received[0]!), { data: { order: { id: '1', total: 5, note: 'hello' } } });
      const { data, errors } = JSON.parse(bob.received[0]!) as Result;
      assert.deepEqual(data, { order: { id: '1', total: null, note: null } });
      const refusal = (field: string) => ({
        message: `Not allowed to read "Order.${field}".`,
        path: ['order', field],
        extensions: { code: 'FORBIDDEN' },
      });
      assert.deepEqual(
        errors?.toSorted((a, b) => (a.message < b.message ? -1 : 1)),
        [refusal('note'), refusal('total')],
      );
      assert.ok(resolved.length > 0);
    });
  }

  it('refuses the field for whatever is not true: undefined, another value, and the same from something that is awaited', async (t) => {
    // No Promise, as a query builder is none.
    const later = (value: unknown) => ({ then: (done: (value: unknown) => void) => done(value) });
    for (const answer of [undefined, null, 0, 'yes', later(false), later(undefined), Promise.resolve(undefined)]) {
      const authorize = () => answer as unknown as boolean;
      const stage = await createStage(t, { sdl: SDL, resolvers: { Order: { note: { authorize } } } });
      const reader = await stage.join('subscription { order { note } }', factsOf('a', { sub: 'ida' }));
      await stage.publish('t{}', { order });
      assert.deepEqual((JSON.parse(reader.received[0]!) as Result).data, { order: { note: null } });
    }
    const stage = await createStage(t, { sdl: SDL, resolvers: { Order: { note: { authorize: () => later(true) } } } });
    const reader = await stage.join('subscription { order { note } }', factsOf('a', { sub: 'ida' }));
    await stage.publish('t{}', { order });
    assert.deepEqual(JSON.parse(reader.received[0]!), { data: { order: { note: 'hello' } } });
  });

  it('is a property or a method without a resolver, as for any other field', async (t) => {
    const stage = await createStage(t, {
      sdl: `type Query { order: Order } type Order { constructor: String method: String late: String }
        type Subscription { a: Int @kafka(topic: "t") }`,
      resolvers: {
        Query: { order: () => ({ method: () => 'called', late: Promise.resolve('late') }) },
        Order: {
          constructor: { authorize: () => true },
          method: { authorize: () => true },
          late: { authorize: () => true },
        },
      },
    });
    const operation = stage.runtime.prepare({ query: '{ order { constructor method late } }' }, undefined);
    assert.ok(!('errors' in operation));
    const result = await stage.runtime.execute(operation, undefined, factsOf('a', {}));
    assert.deepEqual(JSON.parse(JSON.stringify(result)), {
      data: { order: { constructor: null, method: 'called', late: 'late' } },
    });
  });

  it('shows its own GraphQLError, with FORBIDDEN for one without a code, and masks any other', async (t) => {
    const errors: Record<string, () => never> = {
      id: () => {
        throw new GraphQLError('Pay first', { extensions: { code: 'UNPAID' } });
      },
      total: () => {
        throw new GraphQLError('Not yours');
      },
      note: () => {
        throw new Error('pg://user:pass@db failed');
      },
    };
    const late: AuthorizeField = () => Promise.reject(new GraphQLError('Not yours either'));
    const stage = await createStage(t, {
      sdl: SDL,
      resolvers: {
        Query: { order: () => order },
        Order: {
          ...Object.fromEntries(Object.entries(errors).map(([name, authorize]) => [name, { authorize }])),
          owner: { authorize: late },
        },
      },
    });
    const operation = stage.runtime.prepare({ query: '{ order { id total note owner } }' }, undefined);
    assert.ok(!('errors' in operation));
    const result = await stage.runtime.execute(operation, undefined, factsOf('a', {}));
    const shown = JSON.parse(JSON.stringify(result)) as Result;
    const codes = new Map(
      shown.errors?.map(({ message, extensions }) => [message, (extensions as { code: string }).code]),
    );
    assert.deepEqual(
      codes,
      new Map([
        ['Internal server error', 'INTERNAL_SERVER_ERROR'],
        ['Not yours', 'FORBIDDEN'],
        ['Not yours either', 'FORBIDDEN'],
        ['Pay first', 'UNPAID'],
      ]),
    );
    assert.doesNotMatch(JSON.stringify(shown), /pg:/);
  });
});
