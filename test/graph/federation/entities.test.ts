import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import DataLoader from 'dataloader';
import { parseExactly } from '../../../src/base/json/exact-numbers.ts';
import type { ContextDefinition } from '../../../src/graph/context/context.ts';
import { createStage, factsOf } from '../../gateway/fanout/stage.ts';
import type { StageOptions } from '../../gateway/fanout/stage.ts';

const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@external", "@requires"])';
const SDL = `${LINK}
  type Subscription { order_updated: Order @kafka(topic: "t", payload: "order") }
  type Order @key(fields: "id") @key(fields: "number region { code }") {
    id: ID!
    number: Int
    region: Region
    total: Int
    owner: ID
    weight: Int @external
    shipping: Int @requires(fields: "weight")
  }
  type Region { code: String }
  type Secret @key(fields: "id") @requiresScopes(scopes: [["secrets"]]) { id: ID! text: String }`;

interface Result {
  readonly data?: { readonly _entities: readonly unknown[] };
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: unknown;
    readonly extensions: { readonly code: string };
  }[];
}

async function asking(t: TestContext, options: Partial<StageOptions> = {}) {
  const { runtime } = await createStage(t, { sdl: SDL, ...options });
  return async (representations: unknown, selection: string, claims: object = {}): Promise<Result> => {
    const query = `query ($representations: [_Any!]!) { _entities(representations: $representations) { ${selection} } }`;
    const operation = runtime.prepare({ query }, undefined);
    assert.ok(!('errors' in operation), JSON.stringify(operation));
    const result = await runtime.execute(operation, { representations }, factsOf('a', claims));
    return JSON.parse(JSON.stringify(result)) as Result;
  };
}

const shown = ({ data, errors }: Result) => ({
  entities: data?._entities,
  errors: errors?.map(({ message, path, extensions: { code } }) => ({ message, path, code })),
});

const ORDERS: ContextDefinition = {
  createLoaders: () => ({
    orders: new DataLoader((ids: readonly string[]) => {
      batches.push(ids);
      return Promise.resolve(
        ids.map((id) => (id === '404' ? null : { id, total: Number(id) * 10, owner: `owner-${id}` })),
      );
    }),
  }),
};
const batches: (readonly string[])[] = [];
const loadOrder = ({ id }: { id: string }, context: { loaders: { orders: DataLoader<string, unknown> } }) =>
  context.loaders.orders.load(id);

describe('_entities', () => {
  it('finds an entity by a BigInt or an ID beyond 2^53, in a literal and in a variable', async (t) => {
    const sdl = `${LINK}
      scalar BigInt
      type Subscription { x: Int @kafka(topic: "t", payload: "x") }
      type Account @key(fields: "number id") { number: BigInt! id: ID! }`;
    const { runtime } = await createStage(t, {
      sdl,
      resolvers: { Account: { __resolveReference: (of: object) => of } },
    });
    const selection = '{ ... on Account { number id } }';
    const one = '{ __typename: "Account", number: 9007199254740993, id: 9007199254740993 }';
    for (const [query, representations] of [
      [`{ _entities(representations: [${one}]) ${selection} }`, undefined],
      [`query ($of: [_Any!]!) { _entities(representations: $of) ${selection} }`, one.replace(/(\w+): /g, '"$1":')],
    ] as const) {
      const operation = runtime.prepare({ query }, undefined);
      assert.ok(!('errors' in operation));
      const variables = representations === undefined ? undefined : { of: [parseExactly(representations)] };
      const result = JSON.parse(
        JSON.stringify(await runtime.execute(operation, variables, factsOf('a', {}))),
      ) as unknown;
      assert.deepEqual(result, { data: { _entities: [{ number: '9007199254740993', id: '9007199254740993' }] } });
    }
  });

  for (const jitAfterUses of [0, 1]) {
    const mode = jitAfterUses === 0 ? 'by graphql-js' : 'compiled';
    it(`loads all representations in one batch with the loaders of the context, ${mode}`, async (t) => {
      const ask = await asking(t, {
        resolvers: { Order: { __resolveReference: loadOrder } },
        context: ORDERS,
        jitAfterUses,
      });
      batches.length = 0;
      const representations = ['1', '2', '404', '1'].map((id) => ({ __typename: 'Order', id }));
      assert.deepEqual(await ask(representations, '__typename ... on Order { id total }'), {
        data: {
          _entities: [
            { __typename: 'Order', id: '1', total: 10 },
            { __typename: 'Order', id: '2', total: 20 },
            null,
            { __typename: 'Order', id: '1', total: 10 },
          ],
        },
      });
      assert.deepEqual(batches, [['1', '2', '404']]);
    });

    it(`fails a bad representation alone, with its path, ${mode}`, async (t) => {
      const resolvers = {
        Order: {
          __resolveReference: ({ id }: { id: string }) => {
            if (id === 'throws') throw new Error('the password is 123');
            if (id === 'rejects') return Promise.reject(new Error('the password is 123'));
            return id === 'text' ? 'no object' : { id };
          },
        },
      };
      const ask = await asking(t, { resolvers, jitAfterUses });
      const orders = ['1', 'throws', 'rejects', 'text'].map((id) => ({ __typename: 'Order', id }));
      const bad = [
        5,
        null,
        [],
        {},
        { __typename: 'Region', code: 'eu' },
        { __typename: 'Order' },
        { __typename: '__proto__', id: 1 },
      ];
      const { entities, errors } = shown(
        await ask([...orders, ...bad.filter((one) => one !== null)], '... on Order { id }'),
      );
      assert.deepEqual(entities, [{ id: '1' }, ...Array<null>(9).fill(null)]);
      const noEntity = 'The __typename of the representation names no entity of this subgraph.';
      const noObject = 'A representation must be an object with __typename and the fields of a @key.';
      assert.deepEqual(
        errors?.toSorted((a, b) => (a.path as number[])[1]! - (b.path as number[])[1]!),
        [
          ...[1, 2, 3].map((index) => ['Internal server error', index, 'INTERNAL_SERVER_ERROR'] as const),
          ...[4, 5].map((index) => [noObject, index, 'BAD_USER_INPUT'] as const),
          ...[6, 7].map((index) => [noEntity, index, 'BAD_USER_INPUT'] as const),
          ['The representation has not all fields of a @key of "Order".', 8, 'BAD_USER_INPUT'] as const,
          [noEntity, 9, 'BAD_USER_INPUT'] as const,
        ].map(([message, index, code]) => ({ message, path: ['_entities', index], code })),
      );
    });
  }

  it('takes the representation for the entity where there is no __resolveReference', async (t) => {
    const resolvers = { Order: { shipping: ({ weight }: { weight: number }) => weight * 2 } };
    const ask = await asking(t, { resolvers });
    const representations = [{ __typename: 'Order', id: 7, weight: 21 }];
    assert.deepEqual(shown(await ask(representations, '... on Order { id shipping }')).entities, [
      { id: '7', shipping: 42 },
    ]);
  });

  it('takes any key of several, also a nested one', async (t) => {
    const ask = await asking(t);
    const region = { code: 'eu', extra: 1 };
    const selection = '... on Order { number region { code } }';
    assert.deepEqual(shown(await ask([{ __typename: 'Order', number: 5, region }], selection)).entities, [
      { number: 5, region: { code: 'eu' } },
    ]);
    const { errors } = shown(await ask([{ __typename: 'Order', number: 5, region: {} }], selection));
    assert.equal(errors?.[0]?.message, 'The representation has not all fields of a @key of "Order".');
  });

  it('gives __resolveReference only fields of keys and @requires, coerced like arguments', async (t) => {
    const received: unknown[] = [];
    const resolvers = { Order: { __resolveReference: (one: object) => void received.push(one) } };
    const ask = await asking(t, { resolvers });
    const sent = { __typename: 'Order', id: 7, weight: 3, owner: 'ida', total: 1, constructor: 1 };
    await ask([sent], '__typename');
    assert.deepEqual(received, [{ __typename: 'Order', id: '7', weight: 3 }]);
    const { errors } = shown(await ask([{ __typename: 'Order', id: { $ne: null } }], '__typename'));
    assert.equal(received.length, 1);
    assert.match(errors![0]!.message, /^The representation has no valid value at "Order\.id": ID cannot represent/);
  });

  it('holds the access rules of a type for its entities', async (t) => {
    const ask = await asking(t, { resolvers: { Secret: { __resolveReference: () => ({ id: 1, text: 'hidden' }) } } });
    const one = [{ __typename: 'Secret', id: 1 }];
    const selection = '... on Secret { text }';
    const refused = shown(await ask(one, selection, { sub: 'ida' }));
    assert.deepEqual(refused.entities, [null]);
    assert.equal(refused.errors?.[0]?.code, 'FORBIDDEN');
    assert.deepEqual((await ask(one, selection, { scope: 'secrets' })).data?._entities, [{ text: 'hidden' }]);
  });

  it('asks __authorize about the loaded entity, not about what the client sent', async (t) => {
    const resolvers = {
      Order: {
        __authorize: ({ owner }: { owner: string }, { connection }: { connection: { claims: { sub: string } } }) =>
          owner === connection.claims.sub,
        __resolveReference: loadOrder,
      },
    };
    const ask = await asking(t, { resolvers, context: ORDERS });
    const representations = ['1', '2'].map((id) => ({ __typename: 'Order', id, owner: 'owner-2' }));
    const { entities, errors } = shown(await ask(representations, '... on Order { total }', { sub: 'owner-2' }));
    assert.deepEqual(entities, [null, { total: 20 }]);
    assert.deepEqual(errors, [
      { message: 'Not allowed to read this "_Entity".', path: ['_entities', 0], code: 'FORBIDDEN' },
    ]);
  });

  it('refuses more representations than the variables may have values', async (t) => {
    const limits = {
      maxVariableBytes: 10_000,
      maxVariableDepth: 5,
      maxVariableValues: 10,
      maxChannelBytes: 100,
      maxChannels: 1,
    };
    const ask = await asking(t, { limits });
    const representations = ['1', '2', '3', '4'].map((id) => ({ __typename: 'Order', id }));
    assert.deepEqual(shown(await ask(representations.slice(0, 3), '__typename')).errors, undefined);
    assert.match(shown(await ask(representations, '__typename')).errors![0]!.message, /have more than \d+ values/);
  });

  it('finds the type of an entity that its interface loads', async (t) => {
    const sdl = `${LINK}
      type Subscription { media: Media @kafka(topic: "t") }
      interface Media @key(fields: "id") { id: ID! }
      type Book implements Media @key(fields: "id") { id: ID! pages: Int }
      type Film implements Media @key(fields: "id") { id: ID! minutes: Int }`;
    const resolvers = {
      Media: {
        __resolveReference: ({ id }: { id: string }) => ({ id, pages: 5, minutes: 6 }),
        __resolveType: ({ id }: { id: string }) => (id.startsWith('b') ? 'Book' : 'Film'),
      },
    };
    const ask = await asking(t, { sdl, resolvers });
    const representations = ['b1', 'f1'].map((id) => ({ __typename: 'Media', id }));
    const selection = '__typename ... on Book { pages } ... on Film { minutes }';
    assert.deepEqual(shown(await ask(representations, selection)).entities, [
      { __typename: 'Book', pages: 5 },
      { __typename: 'Film', minutes: 6 },
    ]);
  });

  it('refuses one object for entities of two types: a rule that allowed the one would hold for the other', async (t) => {
    const shared = { id: 1, text: 'hidden' };
    const resolvers = { Order: { __resolveReference: () => shared }, Secret: { __resolveReference: () => shared } };
    const ask = await asking(t, { resolvers });
    const representations = ['Order', 'Secret'].map((name) => ({ __typename: name, id: 1 }));
    const { entities } = shown(
      await ask(representations, '... on Order { id } ... on Secret { text }', { scope: 'secrets' }),
    );
    assert.deepEqual(entities, [{ id: '1' }, null]);
  });
});
