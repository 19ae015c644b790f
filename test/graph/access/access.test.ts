import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { createStage, factsOf } from '../../gateway/fanout/stage.ts';
import type { Listener, StageOptions } from '../../gateway/fanout/stage.ts';

const TYPES = `
  type Data {
    open: String
    member: String @authenticated
    reader: String @requiresScopes(scopes: [["read"]])
    either: String @requiresScopes(scopes: [["read"], ["admin"]])
    both: String @requiresScopes(scopes: [["read", "write"]])
    mixed: String @requiresScopes(scopes: [["read", "write"], ["admin"]])
    two: String @authenticated @requiresScopes(scopes: [["admin"]])
    profile: Profile
    profiles: [Profile]
    strict_profile: Profile @requiresScopes(scopes: [["admin"]])
    secret: Secret
    level: Level
    levels: [Level!]
    node: Node
    nodes: [Node]
    either_type: Either
    resolved: String @requiresScopes(scopes: [["read"]])
  }
  type Profile @requiresScopes(scopes: [["read"]]) { name: String ssn: String @requiresScopes(scopes: [["write"]]) }
  scalar Secret @requiresScopes(scopes: [["admin"]])
  enum Level @authenticated { HIGH }
  interface Node @authenticated { id: String @requiresScopes(scopes: [["read"]]) }
  type Post implements Node { id: String draft: String }
  type Page implements Node @requiresScopes(scopes: [["admin"]]) { id: String }
  union Either = Post | Page`;
const SDL = `
  type Query { data: Data }
  type Subscription { data: Data @kafka(topic: "t", payload: "data") }${TYPES}`;

const data = {
  ...Object.fromEntries(['open', 'member', 'reader', 'either', 'both', 'mixed', 'two'].map((name) => [name, name])),
  profile: { name: 'name', ssn: 'ssn' },
  profiles: [{ name: 'name', ssn: 'ssn' }],
  strict_profile: { name: 'name' },
  secret: 'secret',
  level: 'HIGH',
  levels: ['HIGH'],
  node: { __typename: 'Post', id: 'id' },
  nodes: [
    { __typename: 'Page', id: 'page' },
    { __typename: 'Post', id: 'post' },
  ],
  either_type: { __typename: 'Page', id: 'page' },
};
const resolvers = { Query: { data: () => data }, Data: { resolved: () => 'resolved' } };

const people = {
  nobody: {},
  member: { sub: 'ida' },
  reader: { sub: 'rea', scope: 'read' },
  writer: { sub: 'wim', scp: ['read', 'write'] },
  admin: { sub: 'ann', scopes: 'admin' },
} as const;
type Person = keyof typeof people;
const PERSONS = Object.keys(people) as Person[];

/** For each selection, the persons who see it, and the path of the first error for the others. */
const table: Readonly<Record<string, readonly [seenBy: readonly Person[], path?: readonly (string | number)[]]>> = {
  open: [PERSONS],
  member: [['member', 'reader', 'writer', 'admin']],
  reader: [['reader', 'writer']],
  either: [['reader', 'writer', 'admin']],
  both: [['writer']],
  mixed: [['writer', 'admin']],
  two: [['admin']],
  'profile { name }': [['reader', 'writer']],
  'profile { ssn }': [['writer']],
  'profiles { name }': [['reader', 'writer']],
  'strict_profile { name }': [[]],
  secret: [['admin']],
  level: [['member', 'reader', 'writer', 'admin']],
  levels: [['member', 'reader', 'writer', 'admin']],
  'node { __typename }': [['member', 'reader', 'writer', 'admin']],
  'node { id }': [['reader', 'writer']],
  'node { ... on Post { draft } }': [['member', 'reader', 'writer', 'admin']],
  'nodes { __typename }': [['admin']],
  'either_type { __typename }': [['admin']],
  'either_type { ... on Page { id } }': [[]],
  resolved: [['reader', 'writer']],
  'open member': [['member', 'reader', 'writer', 'admin']],
  'reader secret': [[]],
};

interface Result {
  readonly data: { readonly data: Record<string, unknown> | null } | null;
  readonly errors?: readonly { readonly message: string; readonly path: unknown[]; readonly extensions: object }[];
}

function assertSeen(result: Result, person: Person, selection: string): void {
  const [seenBy] = table[selection]!;
  const text = `${person}: ${selection}: ${JSON.stringify(result)}`;
  if (seenBy.includes(person)) return assert.equal(result.errors, undefined, text);
  assert.ok(result.errors && result.errors.length > 0, text);
  for (const { message, path, extensions } of result.errors) {
    assert.match(message, person === 'nobody' ? /^Not authenticated to read / : /^Not allowed to read /, text);
    assert.deepEqual(extensions, { code: person === 'nobody' ? 'UNAUTHENTICATED' : 'FORBIDDEN' }, text);
    assert.equal(path[0], 'data', text);
    const value = path.reduce<unknown>((at, key) => (at as Record<string, unknown>)[String(key)], result.data);
    assert.equal(value, null, text);
  }
}

const MODES: readonly Pick<StageOptions, 'jitAfterUses' | 'hasProjection'>[] = [
  { jitAfterUses: 0, hasProjection: true },
  { jitAfterUses: 1, hasProjection: false },
  { jitAfterUses: 1, hasProjection: true },
  { jitAfterUses: 3, hasProjection: true },
];

function stageOf(t: TestContext, options: Partial<StageOptions> = {}) {
  return createStage(t, { sdl: SDL, resolvers, ...options });
}

for (const mode of MODES) {
  describe(`@authenticated and @requiresScopes, ${JSON.stringify(mode)}`, () => {
    for (const selection of Object.keys(table)) {
      it(`show "${selection}" of an event to the connections that meet them, and null with an error to others`, async (t) => {
        const stage = await stageOf(t, mode);
        const query = `subscription { data { ${selection} } }`;
        const listeners = await Promise.all(PERSONS.map((one) => stage.join(query, factsOf(one, people[one]))));
        for (let i = 0; i < 4; i++) await stage.publish('t{}', { data });
        listeners.forEach(({ received, alone }, index) => {
          assert.deepEqual(received, alone);
          assert.equal(new Set(received).size, 1);
          assertSeen(JSON.parse(received[0]!) as Result, PERSONS[index]!, selection);
        });
      });
    }

    it('hold for queries', async (t) => {
      const stage = await stageOf(t, mode);
      for (const selection of Object.keys(table)) {
        const operation = stage.runtime.prepare({ query: `{ data { ${selection} } }` }, undefined);
        assert.ok(!('errors' in operation));
        for (const person of PERSONS) {
          const result = await stage.runtime.execute(operation, undefined, factsOf(person, people[person]));
          assertSeen(JSON.parse(JSON.stringify(result)) as Result, person, selection);
        }
      }
    });
  });
}

describe('a field that a connection may not see', () => {
  it('makes its parent null if it is non-null', async (t) => {
    const stage = await createStage(t, {
      sdl: `type Subscription { data: Data @kafka(topic: "t", payload: "data") }
        type Data { inner: Inner } type Inner { id: ID secret: String! @authenticated }`,
      jitAfterUses: 1,
    });
    const listener = await stage.join('subscription { data { inner { id secret } } }', factsOf('a', {}));
    await stage.publish('t{}', { data: { inner: { id: 1, secret: 'x' } } });
    const { data: shown, errors } = JSON.parse(listener.received[0]!) as Result;
    assert.deepEqual(shown, { data: { inner: null } });
    assert.deepEqual(
      errors?.map(({ path }) => path),
      [['data', 'inner', 'secret']],
    );
  });

  it('runs no resolver: a mutation has no effect', async (t) => {
    const calls: string[] = [];
    const stage = await createStage(t, {
      sdl: `type Subscription { a: Int @kafka(topic: "t") } type Query { a: Int }
        type Mutation @requiresScopes(scopes: [["write"]]) { pay: Int }`,
      resolvers: { Mutation: { pay: () => calls.push('paid') } },
    });
    const operation = stage.runtime.prepare({ query: 'mutation { pay }' }, undefined);
    assert.ok(!('errors' in operation));
    const refused = await stage.runtime.execute(operation, undefined, factsOf('a', { scope: 'read' }));
    assert.deepEqual([refused.data?.['pay'], refused.errors?.[0]?.extensions['code']], [null, 'FORBIDDEN']);
    assert.deepEqual(calls, []);
    await stage.runtime.execute(operation, undefined, factsOf('a', { scope: 'write' }));
    assert.deepEqual(calls, ['paid']);
  });
});

describe('the execution of fields with directives', () => {
  const query = 'subscription { data { open reader profiles { name } } }';
  const wrongScopes = (i: number) => factsOf(`w${i}`, { sub: `w${i}`, scope: `other${i} write` });
  const rightScopes = (i: number) => factsOf(`r${i}`, { sub: `r${i}`, scope: `read other${i}` });

  for (const mode of MODES) {
    it(`is one for all connections with the same answers, whatever their scopes, ${JSON.stringify(mode)}`, async (t) => {
      for (const [groups, expected] of [
        [[rightScopes], 1],
        [[rightScopes, wrongScopes], 2],
      ] as const) {
        const stage = await stageOf(t, { ...mode, hasSharing: true });
        for (const factsOfGroup of groups) for (let i = 0; i < 20; i++) await stage.join(query, factsOfGroup(i));
        for (let i = 0; i < 4; i++) await stage.publish('t{}', { data });
        const before = stage.executions;
        await stage.publish('t{}', { data });
        assert.equal(stage.executions - before, expected);
      }
    });
  }

  it('reaches connections that must not see it if the answers are not recorded (twin)', async (t) => {
    for (const mode of MODES) {
      const stage = await stageOf(t, { ...mode, hasSharing: true, forgetsReads: true });
      const listeners = [await stage.join(query, rightScopes(1)), await stage.join(query, wrongScopes(1))];
      for (let i = 0; i < 4; i++) await stage.publish('t{}', { data });
      assert.deepEqual(listeners[1]!.received, listeners[0]!.received);
      assert.notDeepEqual(listeners[1]!.received, listeners[1]!.alone);
    }
  });

  it('differs for each user if it reads the scopes themselves (twin)', async (t) => {
    const reads = (_: unknown, __: unknown, { connection }: { connection: { claims: Record<string, unknown> } }) =>
      String(connection.claims['scope']).includes('read') ? 'read' : null;
    const stage = await createStage(t, {
      sdl: 'type Subscription { data: Data @kafka(topic: "t", payload: "data") } type Data { reader: String }',
      resolvers: { Data: { reader: reads } },
      hasSharing: true,
    });
    for (let i = 0; i < 5; i++) await stage.join('subscription { data { reader } }', rightScopes(i));
    await stage.publish('t{}', { data });
    assert.equal(stage.executions, 5);
  });

  it('copies the payload’s text for those who may see it, below lists, too: nothing is parsed', async (t) => {
    const stage = await stageOf(t, { jitAfterUses: 1, hasProjection: true });
    const operation = stage.runtime.prepare({ query }, undefined);
    assert.ok(!('errors' in operation));
    let parses = 0;
    const text = Buffer.from(JSON.stringify({ data }));
    const event = stage.runtime.startEvent({
      get value() {
        parses++;
        return JSON.parse(text.toString()) as unknown;
      },
      render: (template) => template.render(text),
    });
    const { json } = await event.execute({ operation, variables: undefined, facts: rightScopes(1) });
    assert.equal(parses, 0);
    assert.match(Buffer.concat(json).toString(), /"reader":"reader","profiles":\[\{"name":"name"\}\]/);
    const refused = await event.execute({ operation, variables: undefined, facts: wrongScopes(1) });
    assert.equal(parses, 1);
    assert.doesNotMatch(Buffer.concat(refused.json).toString(), /"reader":"reader"|name":"name/);
  });

  it('raises no alarm of the sharing audit', async (t) => {
    const stage = await stageOf(t, { jitAfterUses: 1, audit: 1, hasSharing: true });
    for (let i = 0; i < 3; i++) await stage.join(query, rightScopes(i));
    for (let i = 0; i < 3; i++) await stage.join(query, wrongScopes(i));
    await stage.join(query, factsOf('n', {}));
    for (let i = 0; i < 5; i++) await stage.publish('t{}', { data: i % 2 ? data : { ...data, profiles: null } });
    assert.deepEqual(
      stage.outcomes.filter((outcome) => outcome !== 'same'),
      [],
    );
  });
});

describe('a connection whose scopes change', () => {
  for (const mode of MODES) {
    it(`sees at the next event what the new ones allow, and shares with those alone, ${JSON.stringify(mode)} (S-60)`, async (t) => {
      const stage = await stageOf(t, { ...mode, hasSharing: true });
      const query = 'subscription { data { reader } }';
      const reader = (i: number) => factsOf(`${i}`, { sub: `user ${i}`, scope: `read x${i}` });
      const listeners: Listener[] = [];
      for (let i = 0; i < 4; i++) listeners.push(await stage.join(query, reader(i)));
      const shown = async () => {
        await stage.publish('t{}', { data });
        return listeners.map(({ received }) => (JSON.parse(received.at(-1)!) as Result).data?.data?.['reader']);
      };
      for (let i = 0; i < 4; i++) assert.deepEqual(await shown(), ['reader', 'reader', 'reader', 'reader']);
      listeners[2]!.renew(factsOf('2', { sub: 'user 2', scope: 'x2' }));
      assert.deepEqual(await shown(), ['reader', 'reader', null, 'reader']);
      listeners[2]!.renew(reader(2));
      listeners[0]!.renew(factsOf('0', {}));
      assert.deepEqual(await shown(), [null, 'reader', 'reader', 'reader']);
    });
  }

  it('is refused when its subscription is authorised again, and moves to the channel of its new tenant', async (t) => {
    const { runtime } = await createStage(t, {
      sdl: `type Subscription {
        a: Int @requiresScopes(scopes: [["a"]]) @kafka(topic: "t", where: [{ claim: "tenant", path: "tenant" }], payload: "a")
      }`,
    });
    const operation = runtime.prepare({ query: 'subscription { a }' }, undefined);
    assert.ok(!('errors' in operation));
    const answers = [];
    for (const claims of [
      { scope: 'a', tenant: 'acme' },
      { scope: 'a', tenant: 'other' },
      { scope: 'b', tenant: 'acme' },
    ]) {
      const answer = await runtime.subscribe(operation, undefined, factsOf('a', claims));
      answers.push('channels' in answer ? answer.channels.join() : 'errors' in answer && answer.errors[0]!.message);
    }
    assert.deepEqual(answers, ['t{tenant="acme"}', 't{tenant="other"}', 'Not allowed to subscribe to "a".']);
  });
});

describe('a subscription to a field with directives', () => {
  const sdl = `
    type Subscription @requiresScopes(scopes: [["live"]]) {
      orders: Order @kafka(topic: "t", payload: "order")
      audits: Int @requiresScopes(scopes: [["audit"]]) @kafka(topic: "t")
      ticks: Int
    }
    type Order @requiresScopes(scopes: [["orders"]]) { id: ID }`;
  const source = { ticks: { subscribe: async function* () {} } };
  const subscribe = async (t: TestContext, query: string, claims: object) => {
    const { runtime } = await createStage(t, { sdl, resolvers: { Subscription: source } });
    const operation = runtime.prepare({ query }, undefined);
    assert.ok(!('errors' in operation));
    return runtime.subscribe(operation, undefined, factsOf('a', claims));
  };

  it('is refused unless the field, its type and Subscription are all met', async (t) => {
    const cases = [
      ['orders { id }', 'live orders', true],
      ['orders { id }', 'live', false],
      ['orders { id }', 'orders', false],
      ['audits', 'live audit', true],
      ['audits', 'live orders', false],
      ['ticks', 'live', true],
      ['ticks', 'orders', false],
    ] as const;
    for (const [selection, scope, isAllowed] of cases) {
      const answer = await subscribe(t, `subscription { ${selection} }`, { scope });
      assert.equal(!('errors' in answer), isAllowed, `${selection} with ${scope}`);
    }
  });

  it('is refused with the code, and the path of the field as the client named it', async (t) => {
    const forbidden = await subscribe(t, 'subscription { mine: orders { id } }', { scope: 'live' });
    assert.ok('errors' in forbidden);
    assert.deepEqual(JSON.parse(JSON.stringify(forbidden.errors)), [
      { message: 'Not allowed to subscribe to "orders".', path: ['mine'], extensions: { code: 'FORBIDDEN' } },
    ]);
    const unknown = await subscribe(t, 'subscription { orders { id } }', {});
    assert.ok('errors' in unknown);
    assert.equal(unknown.errors[0]?.message, 'Not authenticated to subscribe to "orders".');
    assert.equal(unknown.errors[0].toJSON().extensions?.['code'], 'UNAUTHENTICATED');
  });

  it('asks authorize only if the directives are met', async (t) => {
    const asked: unknown[] = [];
    const stage = await createStage(t, {
      sdl: 'type Subscription { a: Int @authenticated @kafka(topic: "t") }',
      resolvers: { Subscription: { a: { authorize: () => void asked.push(1) } } },
    });
    await assert.rejects(stage.join('subscription { a }', factsOf('a', {})), /Not authenticated to subscribe to "a"/);
    assert.deepEqual(asked, []);
    await stage.join('subscription { a }', factsOf('a', { sub: 'ida' }));
    assert.deepEqual(asked, [1]);
  });
});
