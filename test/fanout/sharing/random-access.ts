import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  GraphQLError,
  buildSchema,
  execute,
  getDirectiveValues,
  getNamedType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  parse,
} from 'graphql';
import type {
  ConstDirectiveNode,
  ExecutionResult,
  GraphQLField,
  GraphQLInterfaceType,
  GraphQLNamedType,
  GraphQLObjectType,
  GraphQLSchema,
} from 'graphql';
import { ACCESS_DIRECTIVES } from '../../../src/graph/access/access-directives.ts';
import { switches } from '../../support/switches.ts';
import { createStage, factsOf } from '../stage.ts';

type Claims = Record<string, unknown>;
type Source = Record<string, unknown>;

/** Places of the schema that a directive may be put on. */
const PLACES = [
  'user',
  'name',
  'mail',
  'friends',
  'friend',
  'thing',
  'things',
  'USER',
  'THING',
  'thing_id',
  'NOTE',
  'FILE',
];

const directive = fc.constantFrom(
  '',
  '',
  '@authenticated',
  '@requiresScopes(scopes: [["a"]])',
  '@requiresScopes(scopes: [["b"]])',
  '@requiresScopes(scopes: [["a", "b"], ["c"]])',
  '@authenticated @requiresScopes(scopes: [["a"], ["c"]])',
);
const directivesOf = fc
  .tuple(...PLACES.map(() => directive))
  .map((all) => new Map(PLACES.map((place, i) => [place, all[i]!])));

const claimsOf = fc.oneof(
  fc.constant({}),
  fc.record({
    sub: fc.constantFrom('ann', 'bob', 'cat', 'dan'),
    scope: fc.subarray(['a', 'b', 'c', 'x', 'y', 'z']).map((scopes) => scopes.join(' ')),
  }),
  fc.record({ scp: fc.subarray(['a', 'b', 'c', 'x', 'y', 'z']) }),
);

const { user } = fc.letrec<{ user: Source }>((tie) => ({
  user: fc.record({
    name: fc.constantFrom('n1', null),
    mail: fc.constantFrom('m1', 'm2'),
    owner: fc.constantFrom('ann', 'bob'),
    friends: fc.oneof({ maxDepth: 1 }, fc.constant(null), fc.array(tie('user'), { maxLength: 2 })),
    friend: fc.oneof({ maxDepth: 2 }, fc.constant(null), tie('user')),
    thing: fc.constantFrom(null, { __typename: 'Note', id: 'n' }, { __typename: 'File', id: 'f' }),
    things: fc.array(fc.constantFrom({ __typename: 'Note', id: 'n' }, { __typename: 'File', id: 'f' }), {
      maxLength: 2,
    }),
  }),
}));

const leaf = fc.constantFrom(
  'name',
  'mail',
  'thing { id }',
  'things { __typename ... on File { id } }',
  'private',
  '__typename',
);
const selection = fc
  .tuple(
    fc.uniqueArray(leaf, { minLength: 1, maxLength: 3 }),
    fc.uniqueArray(leaf, { minLength: 1, maxLength: 2 }),
    fc.nat(3),
  )
  .map(([own, inner, shape]) => {
    const below = inner.join(' ');
    return [own.join(' '), `friends { ${below} }`, `friend { ${below} }`, `friend { ${below} friends { ${below} } }`]
      .slice(0, shape + 1)
      .join(' ');
  });

function typesOf(on: ReadonlyMap<string, string>): string {
  const at = (place: string) => on.get(place)!;
  return `
    type User ${at('USER')} {
      name: String ${at('name')} mail: String ${at('mail')} private: String
      friends: [User] ${at('friends')} friend: User ${at('friend')}
      thing: Thing ${at('thing')} things: [Thing] ${at('things')}
    }
    interface Thing ${at('THING')} { id: ID ${at('thing_id')} }
    type Note implements Thing ${at('NOTE')} { id: ID }
    type File implements Thing ${at('FILE')} { id: ID }`;
}

/** The owner's only; it reads one claim. */
const isOwner = (source: Source, claims: Claims) => source['owner'] === claims['sub'];

/**
 * Directives at random places of a schema, beside an `authorize`: each connection gets what graphql-js gives it with a check of the raw
 * claims in each resolver, and connections whose claims meet the same directives share an execution.
 */
export function accessProperty() {
  const cases = fc.record({
    directives: directivesOf,
    root: directive,
    connections: fc.array(claimsOf, { minLength: 2, maxLength: 6 }),
    payloads: fc.array(fc.option(user, { freq: 8 }), { minLength: 1, maxLength: 3 }),
    selection,
    jitAfterUses: fc.constantFrom(0, 1, 2),
    hasProjection: fc.boolean(),
  });
  return fc.asyncProperty(cases, async ({ directives, root, connections, payloads, selection: fields, ...mode }) => {
    const types = typesOf(directives);
    const ends: (() => void | Promise<void>)[] = [];
    try {
      const stage = await createStage(
        { after: (end: () => void | Promise<void>) => void ends.push(end) },
        {
          sdl: `type Subscription { user: User ${root} @kafka(topic: "t", payload: "user") } ${types}`,
          resolvers: {
            User: {
              private: {
                authorize: (source: Source, _: unknown, context: { connection: { claims: Claims } }) =>
                  isOwner(source, context.connection.claims),
                resolve: ({ mail }: Source) => `private ${String(mail)}`,
              },
            },
          },
          ...mode,
        },
      );
      const reference = referenceOf(`type Query { user: User ${root} } ${types} ${ACCESS_DIRECTIVES}`);
      const listeners = [];
      for (const [i, claims] of connections.entries()) {
        const isAllowed = reference.run('{ user { __typename } }', { user: {} }, claims).data?.['user'] !== null;
        const joined = stage.join(`subscription { user { ${fields} } }`, factsOf(`c${i}`, claims));
        if (isAllowed) listeners.push({ claims, listener: await joined });
        else await assert.rejects(joined, /^Error: Not (allowed|authenticated) to subscribe to "user"\.$/);
      }
      if (listeners.length === 0) return;
      for (const payload of payloads) {
        const before = stage.executions;
        await stage.publish('t{}', { user: payload });
        const answers = new Set(listeners.map(({ claims }) => reference.answersOf(claims)));
        // `private` reads a claim of the user; the results of more than four read sets are not all kept.
        const isBound = switches.SHARING && !fields.includes('private') && answers.size <= 4;
        const expected = isBound ? answers.size : listeners.length;
        assert.ok(stage.executions - before <= expected, `${stage.executions - before} of ${expected} executions`);
      }
      for (const { listener, claims } of listeners) {
        const expected = payloads.map((payload) =>
          plain(reference.run(`{ user { ${fields} } }`, { user: payload }, claims)),
        );
        assert.deepEqual(
          listener.received.map((text) => plain(JSON.parse(text) as ExecutionResult)),
          expected,
          'delivered',
        );
        assert.deepEqual(
          listener.alone.map((text) => plain(JSON.parse(text) as ExecutionResult)),
          expected,
          'alone',
        );
      }
    } finally {
      for (const end of ends.reverse()) await end();
    }
  });
}

/** graphql-js alone, with a check in each resolver. */
function referenceOf(sdl: string) {
  const schema = buildSchema(sdl, { noLocation: true });
  const all: (readonly ConstDirectiveNode[])[] = [];
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type) || !(isObjectType(type) || isInterfaceType(type))) continue;
    all.push(directivesOn(type));
    const fields: Readonly<Record<string, GraphQLField<Source, Claims>>> = type.getFields();
    for (const field of Object.values(fields)) {
      all.push(field.astNode?.directives ?? []);
      if (isObjectType(type)) checkField(schema, type, field);
    }
  }
  const things = schema.getType('Thing') as GraphQLInterfaceType;
  things.resolveType = (value: Source, claims: Claims) => {
    const name = String(value['__typename']);
    const type = schema.getType(name)!;
    refuseUnless(schema, [...directivesOn(type), ...directivesOn(things)], claims, 'read this "Thing"');
    return name;
  };
  return {
    run: (text: string, rootValue: object, claims: Claims) =>
      execute({ schema, document: parse(text), rootValue, contextValue: claims }) as ExecutionResult,
    answersOf: (claims: Claims) => all.map((nodes) => codeOf(schema, nodes, claims) ?? '').join(),
  };
}

function checkField(schema: GraphQLSchema, type: GraphQLObjectType, field: GraphQLField<Source, Claims>): void {
  const inherited = type.getInterfaces().flatMap((parent) => {
    const fields: Readonly<Record<string, GraphQLField<unknown, unknown>>> = parent.getFields();
    return fields[field.name]?.astNode?.directives ?? [];
  });
  const named = getNamedType(field.type);
  const interfaces = isObjectType(named) ? named.getInterfaces() : [];
  const nodes = [
    ...(field.astNode?.directives ?? []),
    ...inherited,
    ...[named, ...interfaces].flatMap((one) => directivesOn(one)),
  ];
  field.resolve = (source, _, claims) => {
    refuseUnless(schema, nodes, claims, `read "${type.name}.${field.name}"`);
    if (field.name !== 'private') return source[field.name];
    if (isOwner(source, claims)) return `private ${String(source['mail'])}`;
    throw new GraphQLError('Not allowed to read "User.private".', { extensions: { code: 'FORBIDDEN' } });
  };
}

function directivesOn(type: GraphQLNamedType): readonly ConstDirectiveNode[] {
  return type.astNode?.directives ?? [];
}

function refuseUnless(schema: GraphQLSchema, nodes: readonly ConstDirectiveNode[], claims: Claims, what: string): void {
  const code = codeOf(schema, nodes, claims);
  const word = code === 'FORBIDDEN' ? 'allowed' : 'authenticated';
  if (code) throw new GraphQLError(`Not ${word} to ${what}.`, { extensions: { code } });
}

/** undefined: the claims meet all directives. */
function codeOf(schema: GraphQLSchema, nodes: readonly ConstDirectiveNode[], claims: Claims): string | undefined {
  const scopes = [
    ...((claims['scope'] as string | undefined) ?? '').split(' '),
    ...((claims['scp'] as string[] | undefined) ?? []),
  ];
  for (const node of nodes) {
    if (Object.keys(claims).length === 0) return 'UNAUTHENTICATED';
    const values = getDirectiveValues(schema.getDirective(node.name.value)!, { directives: [node] });
    const sets = values?.['scopes'] as string[][] | undefined;
    if (sets && !sets.some((set) => set.every((scope) => scopes.includes(scope)))) return 'FORBIDDEN';
  }
  return undefined;
}

/** Without locations, and with errors in the order of their paths. */
function plain({ data, errors }: ExecutionResult): unknown {
  const shown = errors?.map(({ message, path, extensions }) => ({ message, path, extensions }));
  const text = JSON.stringify({ data, errors: shown?.toSorted((a, b) => (String(a.path) < String(b.path) ? -1 : 1)) });
  return JSON.parse(text);
}
