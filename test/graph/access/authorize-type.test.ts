import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GraphQLError } from 'graphql';
import type { AuthorizeType } from '../../../src/graph/graph-parts.ts';
import { createStage, factsOf } from '../../gateway/fanout/stage.ts';

const SDL = `
  type Query { order: Order orders: [Order] late: [Order] grid: [[Order!]] }
  type Subscription { order: Order @kafka(topic: "t", payload: "order") }
  type Order { id: ID owner: ID parent: Order parts: [Order] owned: Owned all: [Owned] any: Any }
  interface Owned { owner: ID }
  type Note implements Owned { owner: ID text: String }
  type File implements Owned { owner: ID name: String }
  union Any = Note | Order`;

const isOwner: AuthorizeType = (value, { connection }) =>
  (value as { owner: unknown }).owner === connection.claims['sub'];

interface Result {
  readonly data: Record<string, unknown>;
  readonly errors?: readonly { readonly message: string; readonly path: unknown; readonly extensions: object }[];
}

const MODES = [
  { jitAfterUses: 0, hasProjection: true },
  { jitAfterUses: 1, hasProjection: false },
  { jitAfterUses: 1, hasProjection: true },
];

const refusal = (type: string, ...path: (string | number)[]) => ({
  message: `Not allowed to read this "${type}".`,
  path,
  extensions: { code: 'FORBIDDEN' },
});

function shown(text: string): Result {
  const { data, errors } = JSON.parse(text) as Result;
  const inOrder = errors?.map(({ message, path, extensions }) => ({ message, path, extensions }));
  return { data, ...(inOrder && { errors: inOrder.toSorted((a, b) => (String(a.path) < String(b.path) ? -1 : 1)) }) };
}

/** The result of a query, executed by graphql-js or by compiled code. */
async function run(query: string, resolvers: Record<string, unknown>, jitAfterUses = 0, claims = { sub: 'ida' }) {
  const ends: (() => void | Promise<void>)[] = [];
  const stage = await createStage(
    { after: (end: () => void | Promise<void>) => void ends.push(end) },
    { sdl: SDL, resolvers, jitAfterUses },
  );
  try {
    const operation = stage.runtime.prepare({ query }, undefined);
    assert.ok(!('errors' in operation));
    const result = await stage.runtime.execute(operation, undefined, factsOf('a', claims));
    return shown(JSON.stringify(result));
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

describe('__authorize of a type', () => {
  for (const mode of MODES) {
    const text = JSON.stringify(mode);
    it(`decides about each value of the type: a payload, a field, each item of a list, ${text}`, async (t) => {
      const stage = await createStage(t, { sdl: SDL, resolvers: { Order: { __authorize: isOwner } }, ...mode });
      const query = 'subscription { order { id parent { id } parts { id } } }';
      const [ida, bob] = [
        await stage.join(query, factsOf('a', { sub: 'ida' })),
        await stage.join(query, factsOf('b', { sub: 'bob' })),
      ];
      const parts = [{ id: 3, owner: 'ida' }, { id: 4, owner: 'bob' }, null];
      const order = { id: 1, owner: 'ida', parent: { id: 2, owner: 'bob' }, parts };
      for (let i = 0; i < 3; i++) await stage.publish('t{}', { order });
      assert.deepEqual(ida.received, ida.alone);
      assert.deepEqual(bob.received, bob.alone);
      assert.deepEqual(shown(ida.received[2]!), {
        data: { order: { id: '1', parent: null, parts: [{ id: '3' }, null, null] } },
        errors: [refusal('Order', 'order', 'parent'), refusal('Order', 'order', 'parts', 1)],
      });
      assert.deepEqual(shown(bob.received[2]!), { data: { order: null }, errors: [refusal('Order', 'order')] });
    });

    it(`decides about the values behind an interface or union by their own type and its interfaces, ${text}`, async (t) => {
      const stage = await createStage(t, {
        sdl: SDL,
        resolvers: { Owned: { __authorize: isOwner }, Note: { __authorize: async () => Promise.resolve(false) } },
        ...mode,
      });
      const query = `subscription { order { id owned { owner } all { owner ... on File { name } } any { __typename } } }`;
      const ida = await stage.join(query, factsOf('a', { sub: 'ida' }));
      const file = (owner: string) => ({ __typename: 'File', owner, name: 'n' });
      const note = { __typename: 'Note', owner: 'ida', text: 'secret' };
      const order = { id: 1, owned: file('bob'), all: [file('ida'), note, file('bob')], any: note };
      for (let i = 0; i < 3; i++) await stage.publish('t{}', { order });
      await stage.publish('t{}', { order: { id: 2, any: { __typename: 'Order' } } });
      assert.deepEqual(ida.received, ida.alone);
      assert.deepEqual(shown(ida.received[2]!), {
        data: { order: { id: '1', owned: null, all: [{ owner: 'ida', name: 'n' }, null, null], any: null } },
        errors: [
          refusal('Owned', 'order', 'all', 1),
          refusal('Owned', 'order', 'all', 2),
          refusal('Any', 'order', 'any'),
          refusal('Owned', 'order', 'owned'),
        ],
      });
      assert.deepEqual(shown(ida.received[3]!), {
        data: { order: { id: '2', owned: null, all: null, any: { __typename: 'Order' } } },
      });
    });

    it(`shares a result among connections that agree on what it reads, ${text}`, async (t) => {
      const stage = await createStage(t, {
        sdl: SDL,
        resolvers: { Order: { __authorize: isOwner } },
        hasSharing: true,
        ...mode,
      });
      const query = 'subscription { order { id } }';
      const join = (id: string, sub: string) => stage.join(query, factsOf(id, { sub, sid: id }));
      const listeners = [await join('a1', 'ida'), await join('a2', 'ida'), await join('b', 'bob')];
      for (let i = 0; i < 3; i++) await stage.publish('t{}', { order: { id: 1, owner: 'ida' } });
      const before = stage.executions;
      await stage.publish('t{}', { order: { id: 1, owner: 'ida' } });
      assert.equal(stage.executions - before, 2);
      for (const { received, alone } of listeners) assert.deepEqual(received, alone);
    });
  }

  for (const jitAfterUses of [0, 1]) {
    it(`waits for promises of values and of items, and looks into lists of lists, JIT_AFTER_USES=${jitAfterUses}`, async () => {
      const order = (id: number, owner: string) => ({ id, owner });
      const Query = {
        order: () => Promise.resolve(order(1, 'bob')),
        orders: () => new Set([order(1, 'ida'), order(2, 'bob')]),
        late: () =>
          Promise.resolve([Promise.resolve(order(1, 'bob')), order(2, 'ida'), Promise.reject(new Error('x'))]),
        grid: () => [[order(1, 'ida')], [order(2, 'ida'), Promise.resolve(order(3, 'bob'))]],
      };
      const resolvers = { Query, Order: { __authorize: isOwner } };
      const query = '{ order { id } orders { id } late { id } grid { id } }';
      const { data, errors } = await run(query, resolvers, jitAfterUses);
      assert.deepEqual(data, {
        order: null,
        orders: [{ id: '1' }, null],
        late: [null, { id: '2' }, null],
        grid: [[{ id: '1' }], null],
      });
      assert.deepEqual(
        errors?.map(({ message, path }) => [message, path]),
        [
          ['Not allowed to read this "Order".', ['grid', 1, 1]],
          ['Not allowed to read this "Order".', ['late', 0]],
          ['Internal server error', ['late', 2]],
          ['Not allowed to read this "Order".', ['order']],
          ['Not allowed to read this "Order".', ['orders', 1]],
        ],
      );
    });
  }

  const thenable = (value: unknown) => ({ then: (use: (value: unknown) => unknown) => use(value) });
  const bobs = [{ id: 1, owner: 'bob' }];
  const LISTS: readonly (readonly [string, (list: unknown[]) => unknown])[] = [
    ['a function with a then', (list) => Object.assign(() => undefined, thenable(list))],
    [
      'an object whose then is a getter',
      (list) => Object.defineProperty({}, 'then', { get: () => thenable(list).then }),
    ],
    ['a thenable of a thenable', (list) => thenable(thenable(list))],
    [
      'a thenable whose then returns itself',
      (list) => {
        const lazy = { then: (use: (value: unknown) => void) => (use(list), lazy) };
        return lazy;
      },
    ],
    ['a list of functions with a then', (list) => list.map((one) => Object.assign(() => undefined, thenable(one)))],
    ['a Promise of thenables', async (list) => Promise.resolve(list.map(thenable))],
    ['the values of a Map', (list) => new Map(list.map((one, i) => [i, one])).values()],
    [
      'a generator',
      function* (list) {
        yield* list;
      },
    ],
    [
      'a function with an iterator',
      (list) => Object.assign(() => undefined, { [Symbol.iterator]: () => list.values() }),
    ],
    ['a Proxy that hides its iterator', (list) => new Proxy(list, { has: () => false })],
    ['an async iterable', (list) => ({ [Symbol.asyncIterator]: () => list.values() })],
    ['text', () => 'text'],
  ];
  for (const [what, given] of LISTS) {
    for (const jitAfterUses of [0, 1]) {
      it(`lets no item through if the list is ${what}, JIT_AFTER_USES=${jitAfterUses}`, async () => {
        const Query = { orders: () => given(bobs), grid: () => given([given(bobs)]), order: () => thenable(bobs[0]) };
        const query = '{ orders { id } grid { id } order { id } }';
        const asked = await run(query, { Query, Order: { __authorize: isOwner } }, jitAfterUses);
        assert.doesNotMatch(JSON.stringify(asked.data), /"1"/);
        assert.ok(asked.errors!.length >= 3, JSON.stringify(asked));
      });
    }
  }

  it('refuses the value for whatever is not true, shows its own GraphQLError and masks any other', async () => {
    const order = { id: 1 };
    for (const answer of [undefined, null, 0, 'yes', Promise.resolve(undefined)]) {
      const { data } = await run('{ order { id } }', {
        Query: { order: () => order },
        Order: { __authorize: () => answer },
      });
      assert.deepEqual(data, { order: null });
    }
    const failing = async (error: Error) => {
      const __authorize = () => {
        throw error;
      };
      const { data, errors } = await run('{ orders { id } }', {
        Query: { orders: () => [order] },
        Order: { __authorize },
      });
      assert.deepEqual(data, { orders: [null] });
      return errors?.map(({ message, extensions }) => [message, (extensions as { code: string }).code]);
    };
    const unpaid = new GraphQLError('Pay first', { extensions: { code: 'UNPAID' } });
    assert.deepEqual(await failing(unpaid), [['Pay first', 'UNPAID']]);
    assert.deepEqual(await failing(new GraphQLError('Not yours')), [['Not yours', 'FORBIDDEN']]);
    assert.deepEqual(await failing(new Error('pg://user:pass@db')), [
      ['Internal server error', 'INTERNAL_SERVER_ERROR'],
    ]);
  });

  it('runs after the authorize of the field, and after its resolver', async () => {
    const calls: string[] = [];
    const called = (name: string, answer: unknown) => () => (calls.push(name), answer);
    await run('{ order { id } }', {
      Query: { order: { authorize: called('field', true), resolve: called('resolver', { id: 1 }) } },
      Order: { __authorize: called('type', true) },
    });
    assert.deepEqual(calls, ['field', 'resolver', 'type']);
  });

  it('belongs to an object type or interface that fields return, and is a function', async (t) => {
    const refused = (resolvers: Record<string, unknown>) => createStage(t, { sdl: SDL, resolvers });
    await assert.rejects(refused({ Order: { __authorize: true } }), /Order\.__authorize must be a function/);
    const allow = () => true;
    await assert.rejects(refused({ Any: { __authorize: allow } }), /Any\.__authorize: a union has none; put it on its/);
    for (const root of ['Query', 'Subscription']) {
      await assert.rejects(
        refused({ [root]: { __authorize: allow } }),
        /no field returns it; put authorize on the fields/,
      );
    }
  });
});
