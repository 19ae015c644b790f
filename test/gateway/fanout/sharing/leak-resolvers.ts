import { GraphQLError } from 'graphql';
import DataLoader from 'dataloader';
import type { GraphQLResolveInfo } from 'graphql';
import type { ContextDefinition, ExecutionContext } from '../../../../src/graph/context/context.ts';

type Context = ExecutionContext<Loaders>;
type Resolver = (source: Record<string, unknown>, args: unknown, context: Context) => unknown;
type Arguments = Record<string, unknown>;
type Writer = (args: Arguments, user: unknown) => unknown;

/** One way for a resolver to read its connection. */
export interface Row {
  readonly name: string;
  readonly resolve: Resolver;
  /** Executions for Alice, her second connection with the same claims and credentials but in Bob's region, and Bob. */
  readonly executions: 1 | 2 | 3;
}

class Whoami {
  readonly #context: ExecutionContext;
  constructor(context: ExecutionContext) {
    this.#context = context;
  }
  get user(): unknown {
    return this.#context.connection.claims['user'];
  }
}

interface Loaders {
  readonly ofNow: DataLoader<string, string>;
  readonly ofLater: DataLoader<string, string>;
  readonly whoami: Whoami;
  readonly remembered: { readonly greeting: string };
  readonly primers: { greeting(): string };
}

const memory = new Map<unknown, { greeting: string }>();

function remembered(user: unknown): { greeting: string } {
  const known = memory.get(user) ?? { greeting: `hello ${String(user)}` };
  memory.set(user, known);
  return known;
}

export const leakContext: ContextDefinition<Loaders> = {
  backends: ['profile'],
  createLoaders(context) {
    const { connection } = context;
    return {
      get ofNow() {
        const { user } = connection.claims;
        return new DataLoader<string, string>((keys) => Promise.resolve(keys.map((key) => `${key} ${String(user)}`)));
      },
      ofLater: new DataLoader<string, string>((keys) =>
        Promise.resolve(keys.map((key) => `${key} ${String(connection.claims['user'])}`)),
      ),
      whoami: new Whoami(context),
      get remembered() {
        return remembered(connection.claims['user']);
      },
      primers: { greeting: () => `good day ${String(connection.claims['user'])}` },
    };
  },
};

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Alice has claims { user, tenant, roles, org: { name }, is_admin }, Bob the same without is_admin and with other values. */
export const rows: readonly Row[] = [
  { name: 'nothing', executions: 1, resolve: ({ id }) => id },
  { name: 'nothing, after an await', executions: 1, resolve: async ({ id }) => (await turn(), id) },
  { name: 'directly', executions: 2, resolve: (_, __, context) => context.connection.claims['user'] },
  {
    name: 'destructured',
    executions: 2,
    resolve: (_, __, { connection: { claims: { user } } }) => user, // prettier-ignore
  },
  { name: 'spread', executions: 2, resolve: (_, __, { connection }) => ({ ...connection.claims })['user'] },
  { name: 'the rest of a pattern', executions: 2, resolve: (_, __, { connection }) => restOf(connection.claims) },
  { name: 'Object.assign', executions: 2, resolve: (_, __, c) => Object.assign({}, c.connection.claims)['user'] },
  {
    name: 'Object.entries',
    executions: 2,
    resolve: (_, __, { connection }) => Object.entries(connection.claims).find(([key]) => key === 'user')?.[1],
  },
  { name: 'Object.values', executions: 2, resolve: (_, __, c) => Object.values(c.connection.claims).join() },
  { name: 'Object.keys', executions: 2, resolve: (_, __, c) => Object.keys(c.connection.claims).join() },
  { name: 'JSON.stringify of the claims', executions: 2, resolve: (_, __, c) => JSON.stringify(c.connection.claims) },
  { name: 'JSON.stringify of it all', executions: 3, resolve: (_, __, c) => JSON.stringify(c.connection) },
  { name: 'in', executions: 2, resolve: (_, __, { connection }) => 'is_admin' in connection.claims },
  { name: 'hasOwn', executions: 2, resolve: (_, __, { connection }) => Object.hasOwn(connection.claims, 'is_admin') },
  { name: 'for … in', executions: 2, resolve: (_, __, { connection }) => keysOf(connection.claims).join() },
  {
    name: 'Reflect.get',
    executions: 2,
    resolve: (_, __, c) => String(Reflect.get(c.connection.claims, 'user')),
  },
  { name: 'a descriptor', executions: 2, resolve: (_, __, { connection }) => described(connection.claims, 'user') },
  { name: 'an absent claim', executions: 2, resolve: (_, __, c) => c.connection.claims['is_admin'] ?? 'no' },
  { name: 'an array’s member', executions: 2, resolve: (_, __, c) => rolesOf(c).includes('admin') },
  { name: 'an array’s length', executions: 2, resolve: (_, __, context) => rolesOf(context).length },
  { name: 'an array, iterated', executions: 2, resolve: (_, __, context) => [...rolesOf(context)].join() },
  { name: 'an array as text', executions: 2, resolve: (_, __, context) => `${String(rolesOf(context))}!` },
  {
    name: 'a nested claim',
    executions: 2,
    resolve: (_, __, { connection }) => (connection.claims['org'] as { name: string }).name,
  },
  { name: 'a claim that all have in common', executions: 1, resolve: (_, __, c) => c.connection.claims['tenant'] },
  { name: 'a header', executions: 2, resolve: (_, __, { connection }) => connection.headers['authorization'] },
  { name: 'a parameter', executions: 2, resolve: (_, __, { connection }) => connection.params['locale'] },
  { name: 'the address', executions: 2, resolve: (_, __, { connection }) => connection.address },
  { name: 'the id', executions: 3, resolve: (_, __, { connection }) => connection.id },
  {
    name: 'a backend that forwards Authorization',
    executions: 2,
    resolve: async (_, __, { backends }) => JSON.stringify(await backends['profile']!.get('/me')),
  },
  {
    name: 'a backend that forwards another header',
    executions: 2,
    resolve: async (_, __, { backends }) => JSON.stringify(await backends['profile']!.get('/region')),
  },
  {
    name: 'a loader that read at once (S-62)',
    executions: 2,
    resolve: (_, __, { loaders }) => loaders.ofNow.load('hi'),
  },
  {
    name: 'a loader that reads in its batch',
    executions: 2,
    resolve: (_, __, { loaders }) => loaders.ofLater.load('hi'),
  },
  { name: 'a getter on a class instance', executions: 2, resolve: (_, __, { loaders }) => loaders.whoami.user },
  {
    name: 'the graph’s own cache by user',
    executions: 2,
    resolve: (_, __, { loaders }) => loaders.remembered.greeting,
  },
  { name: 'a primer', executions: 2, resolve: (_, __, { loaders }) => loaders.primers.greeting() },
  {
    name: 'after an await',
    executions: 2,
    resolve: async (_, __, { connection }) => (await turn(), connection.claims['user']),
  },
  {
    name: 'after a backend and two more turns',
    executions: 2,
    resolve: async (_, __, { backends, connection }) => {
      await backends['profile']!.get('/public');
      await turn().then(turn);
      return connection.claims['user'];
    },
  },
  {
    name: 'several at once',
    executions: 2,
    resolve: async (_, __, { connection }) =>
      (await Promise.all(['user', 'tenant'].map(async (claim) => (await turn(), connection.claims[claim])))).join(),
  },
  {
    name: 'a question that depends on an answer',
    executions: 2,
    resolve: (_, __, { connection: { claims } }) => claims[claims['user'] === 'alice' ? 'is_admin' : 'tenant'],
  },
  {
    name: 'for some payloads only',
    executions: 2,
    resolve: ({ is_private }, _, { connection }) => (is_private ? connection.claims['user'] : 'public'),
  },
  { name: 'as the text of a scalar, when all has settled', executions: 2, resolve: (_, __, c) => c.connection.claims },
  {
    name: 'an object whose method is the resolver of its field',
    executions: 2,
    resolve: (_, __, { connection }) => ({ toJSON: () => connection.claims['user'] }),
  },
  {
    name: 'a list of promises',
    executions: 2,
    resolve: (_, __, { connection }) => Promise.all([turn().then(() => connection.claims['user'])]),
  },
  {
    name: 'an error with data in its extensions (S-61)',
    executions: 2,
    resolve: (_, __, { connection: { claims } }) => {
      throw new GraphQLError('refused', { extensions: { code: 'NO', user: claims['user'] } });
    },
  },
  {
    name: 'an error for one of them, later',
    executions: 2,
    resolve: async (_, __, { connection: { claims } }) => {
      await turn();
      if (claims['user'] === 'bob') throw new GraphQLError('bob may not see it');
      return 'for alice only';
    },
  },
  {
    name: 'an error that is masked',
    executions: 1,
    resolve: () => Promise.reject(new Error('postgres://user:password@host')),
  },
];

/** Every argument, and every field of the input types, has a default that is an object or a list. */
export const ARGUMENTS = `(
    filter: Filter = { tags: ["default"], inner: { names: [] } }, filters: [Filter!] = [{ tags: [] }],
    tags: [String!] = ["default"], any: Any = { list: [] }
  )`;
export const INPUT_TYPES = `
  input Filter { owner: String tags: [String!] = ["field"] inner: Inner = { names: ["field"] } any: Any = { list: [] } }
  input Inner { names: [String!] = ["inner"] }`;

/** Ways to pass these arguments: the selection of the field, the variable definitions, and the variables. */
export const passings: Readonly<Record<string, readonly [string, string?, Record<string, unknown>?]>> = {
  'left out': ['value'],
  'left out, beside a literal': ['value(tags: ["literal"])'],
  'given as literals with defaults inside': ['value(filter: {}, filters: [{ inner: {} }], any: {})'],
  'given as whole literals': ['value(filter: { tags: ["x"], inner: { names: [] } }, tags: [], any: { list: [] })'],
  'given as variables that are not sent': [
    'value(filter: $filter, filters: $filters, tags: $tags, any: $any)',
    '($filter: Filter, $filters: [Filter!], $tags: [String!], $any: Any)',
  ],
  'given as variables with defaults': [
    'value(filter: $filter, filters: $filters, tags: $tags, any: $any)',
    '($filter: Filter = {}, $filters: [Filter!] = [{ inner: {} }], $tags: [String!] = ["x"], $any: Any = { list: [] })',
  ],
  'sent as variables': [
    'value(filter: $filter, filters: $filters, tags: $tags, any: $any)',
    '($filter: Filter, $filters: [Filter!], $tags: [String!], $any: Any)',
    { filter: {}, filters: [{ inner: {} }], tags: [], any: { list: [] } },
  ],
};

/** Ways for a resolver to store data of one user in its arguments, or keyed by them. */
export function argumentWriters(): Readonly<Record<string, Writer>> {
  const memory = new WeakMap<object, unknown>();
  const keep = (key: unknown, user: unknown) => {
    if (!memory.has(key as object)) memory.set(key as object, user);
    return memory.get(key as object);
  };
  const at = (args: Arguments, ...path: (string | number)[]) =>
    path.reduce<unknown>((value, key) => (value as Record<string | number, unknown>)[key], args) as Arguments;
  return {
    'assigns an argument': (args, user) => (args['owner'] ??= user),
    'fills a field of an input object': (args, user) => (at(args, 'filter')['owner'] ??= user),
    'fills a field of an object inside': (args, user) => (at(args, 'filter', 'inner')['owner'] ??= user),
    'adds to a list': (args, user) => (at(args, 'tags') as unknown as unknown[]).push(user),
    'adds to a list of an input object': (args, user) =>
      (at(args, 'filter', 'tags') as unknown as unknown[]).push(user),
    'adds to a list inside': (args, user) => (at(args, 'filter', 'inner', 'names') as unknown as unknown[]).push(user),
    'fills an object of a list': (args, user) => (at(args, 'filters', 0)['owner'] ??= user),
    'fills a custom scalar': (args, user) => (at(args, 'any')['owner'] ??= user),
    'adds to a list of a custom scalar': (args, user) => (at(args, 'any', 'list') as unknown as unknown[]).push(user),
    'remembers by its arguments': (args, user) => keep(args, user),
    'remembers by an input object': (args, user) => keep(args['filter'], user),
    'remembers by an object inside': (args, user) => keep(at(args, 'filter')['inner'], user),
    'remembers by a list': (args, user) => keep(args['tags'], user),
    'remembers by a custom scalar': (args, user) => keep(args['any'], user),
  };
}

/** Objects of `info` that resolvers key caches by. */
export const infoKeys: Readonly<Record<string, (info: GraphQLResolveInfo) => object>> = {
  info: (info) => info,
  'info.fieldNodes': ({ fieldNodes }) => fieldNodes,
  'info.operation': ({ operation }) => operation,
  'info.path': ({ path }) => path,
  'info.variableValues': ({ variableValues }) => variableValues,
};

function restOf({ tenant, ...rest }: Readonly<Record<string, unknown>>): string {
  return `${String(tenant)} ${JSON.stringify(rest)}`;
}

function keysOf(object: object): string[] {
  const keys: string[] = [];
  for (const key in object) keys.push(key);
  return keys;
}

function described(object: object, key: string): unknown {
  const descriptor = Object.getOwnPropertyDescriptor(object, key);
  return descriptor?.get ? (descriptor.get() as unknown) : descriptor?.value;
}

function rolesOf({ connection }: Context): string[] {
  return connection.claims['roles'] as string[];
}
