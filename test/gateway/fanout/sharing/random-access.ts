import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ExecutionResult } from 'graphql';
import { ACCESS_DIRECTIVES } from '../../../../src/graph/access/access-directives.ts';
import { switches } from '../../../support/switches.ts';
import { createStage, factsOf } from '../stage.ts';
import { isOpen, isOwner, referenceOf } from './access-reference.ts';
import type { Claims, Source } from './access-reference.ts';

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

/** Types of the graph with an `__authorize`. */
const guardedOf = fc.oneof(
  { weight: 2, arbitrary: fc.constant<string[]>([]) },
  { weight: 1, arbitrary: fc.subarray(['User', 'Thing', 'Note', 'File']) },
);

const blocked = fc.constantFrom('ann', 'bob', undefined);
const thing = fc.oneof(
  fc.record({ __typename: fc.constant('Note'), id: fc.constant('n'), blocked }),
  fc.record({ __typename: fc.constant('File'), id: fc.constant('f'), blocked }),
);

const { user } = fc.letrec<{ user: Source }>((tie) => ({
  user: fc.record({
    name: fc.constantFrom('n1', null),
    mail: fc.constantFrom('m1', 'm2'),
    owner: fc.constantFrom('ann', 'bob'),
    blocked,
    friends: fc.oneof({ maxDepth: 1 }, fc.constant(null), fc.array(tie('user'), { maxLength: 2 })),
    friend: fc.oneof({ maxDepth: 2 }, fc.constant(null), tie('user')),
    thing: fc.oneof(fc.constant(null), thing),
    things: fc.array(thing, { maxLength: 2 }),
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

type Context = { readonly connection: { readonly claims: Claims } };
const openOnly = { __authorize: (value: Source, { connection }: Context) => isOpen(value, connection.claims) };

/**
 * Directives at random places of a schema, beside an `authorize` of a field and of types: each connection gets what graphql-js gives it with a check of the raw
 * claims in each resolver, and connections whose claims meet the same directives share an execution.
 */
export function accessProperty() {
  const cases = fc.record({
    directives: directivesOf,
    guarded: guardedOf,
    root: directive,
    connections: fc.array(claimsOf, { minLength: 2, maxLength: 6 }),
    payloads: fc.array(fc.option(user, { freq: 8 }), { minLength: 1, maxLength: 3 }),
    selection,
    jitAfterUses: fc.constantFrom(0, 1, 2),
    hasProjection: fc.boolean(),
  });
  return fc.asyncProperty(cases, async ({ directives, guarded, root, connections, payloads, ...rest }) => {
    const { selection: fields, ...mode } = rest;
    const types = typesOf(directives);
    const ends: (() => void | Promise<void>)[] = [];
    try {
      const stage = await createStage(
        { after: (end: () => void | Promise<void>) => void ends.push(end) },
        {
          sdl: `type Subscription { user: User ${root} @kafka(topic: "t", payload: "user") } ${types}`,
          resolvers: {
            ...Object.fromEntries(guarded.map((type) => [type, openOnly])),
            User: {
              ...(guarded.includes('User') && openOnly),
              private: {
                authorize: (source: Source, _: unknown, { connection }: Context) => isOwner(source, connection.claims),
                resolve: ({ mail }: Source) => `private ${String(mail)}`,
              },
            },
          },
          ...mode,
        },
      );
      const reference = referenceOf(`type Query { user: User ${root} } ${types} ${ACCESS_DIRECTIVES}`, guarded);
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
        // `private` and guarded types read a claim of the user; the results of more than four read sets are not all kept.
        const isBound = switches.SHARING && guarded.length === 0 && !fields.includes('private') && answers.size <= 4;
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

/** Without locations, and with errors in the order of their paths. */
function plain({ data, errors }: ExecutionResult): unknown {
  const shown = errors?.map(({ message, path, extensions }) => ({ message, path, extensions }));
  const text = JSON.stringify({ data, errors: shown?.toSorted((a, b) => (String(a.path) < String(b.path) ? -1 : 1)) });
  return JSON.parse(text);
}
