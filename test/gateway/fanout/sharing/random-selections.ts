import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { GraphQLScalarType, buildSchema, execute, parse } from 'graphql';
import type { GraphQLObjectType } from 'graphql';
import { printParts } from '../../../../src/bus/carried-parts.ts';
import { HISTORY_DEFAULTS } from '../../../../src/bus/history.ts';
import type { ConnectionFacts } from '../../../../src/graph/context/connection-facts.ts';
import { createContext } from '../../../../src/graph/context/context.ts';
import type { ExecutionContext } from '../../../../src/graph/context/context.ts';
import { connectionOf, observe, programOf } from '../../../graph/context/random-programs.ts';
import { publisherOf } from '../../../support/partition-publisher.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { createStage } from '../stage.ts';
import type { StageOptions } from '../stage.ts';

const SDL = `
  type Subscription {
    event(ids: [ID!], min: Int, tags: [String!]): Event @kafka(
      topic: "t", match: { arg: "ids", path: "id" }, history: {}, replay: LAST, record: { key: true, headers: ["tenant"] }
      where: [{ arg: "min", path: "total", op: GTE }, { arg: "tags", path: "tag", op: IN }]
    )
  }
  type Event {
    id: ID total: Int tag: String value: Any key: ID @record(field: KEY) tenant: String @record(field: HEADER, name: "tenant")
  }
  type Query { id: ID }
  scalar Any`;
const SELECTION = '{ id total tag value key tenant }';

/** A payload, and the header of its record. Its id is the key. */
interface Event {
  readonly id: string;
  readonly total?: number;
  readonly tag?: string | null;
  /** True: the resolver reads facts. The results of other events are shared, so they must contain no user's data. */
  readonly is_private: boolean;
  readonly tenant: string | null;
}

interface Request {
  readonly args: {
    readonly ids?: readonly string[] | null;
    readonly min?: number | null;
    readonly tags?: readonly string[] | null;
  };
  readonly hasLiterals: boolean;
}

interface Client extends Request {
  readonly facts: ConnectionFacts;
  /** True: it begins with the last event of each of its channels. */
  readonly isLate: boolean;
}

type Context = Pick<ExecutionContext, 'connection' | 'record'>;
type Resolver = (source: Event & { readonly args?: unknown }, args: unknown, context: Context) => unknown;

const id = fc.constantFrom('1', '2', '3');
const tag = fc.constantFrom('red', 'blue');
const eventOf: fc.Arbitrary<Event> = fc.record(
  { id, total: fc.nat(3), tag: fc.option(tag), is_private: fc.boolean(), tenant: fc.constantFrom('a', 'b', null) },
  { requiredKeys: ['id', 'is_private', 'tenant'] },
);
const requestOf: fc.Arbitrary<Request> = fc.record({
  args: fc.record(
    {
      ids: fc.option(fc.array(id, { minLength: 1, maxLength: 3 })),
      min: fc.option(fc.nat(3)),
      tags: fc.option(fc.array(tag, { minLength: 1, maxLength: 2 })),
    },
    { requiredKeys: [] },
  ),
  hasLiterals: fc.nat(3).map((n) => n === 0),
});
/** Some send the same request, some the same document with other variables. */
const clientsOf = fc.array(requestOf, { minLength: 2, maxLength: 3 }).chain((requests) =>
  fc.array(
    fc
      .record({ request: fc.constantFrom(...requests), facts: connectionOf, isLate: fc.boolean() })
      .map(({ request, ...client }): Client => ({ ...request, ...client })),
    { minLength: 2, maxLength: 6 },
  ),
);

/**
 * Clients with random facts and arguments on a field with a list, `where`, `context.record` and `@record`: each receives the events that its
 * arguments select, once, with the results that graphql-js gives it alone.
 */
export function selectionProperty(options: Partial<StageOptions> = {}) {
  const cases = fc.record({
    program: programOf,
    /** True: the results contain the arguments. */
    hasRoot: fc.boolean(),
    clients: clientsOf,
    before: fc.array(eventOf, { maxLength: 3 }),
    after: fc.array(eventOf, { minLength: 1, maxLength: 4 }),
    jitAfterUses: fc.constantFrom(0, 1, 3),
    hasProjection: fc.boolean(),
  });
  return fc.asyncProperty(cases, async ({ program, hasRoot, clients, before, after, ...mode }) => {
    const value: Resolver = (source, _, { connection, record }) =>
      JSON.stringify([
        source.is_private ? observe(program, connection) : 'open',
        source.args,
        record!.key,
        record!.headers['tenant'],
      ]);
    const event: Resolver = (source, args) => ({ ...source, args });
    const root = hasRoot ? event : undefined;
    const ends: (() => void | Promise<void>)[] = [];
    try {
      const stage = await createStage(
        { after: (end: () => void | Promise<void>) => void ends.push(end) },
        {
          sdl: SDL,
          resolvers: {
            Event: { value },
            ...(root && { Subscription: { event: root } }),
            Any: new GraphQLScalarType({ name: 'Any' }),
          },
          ...mode,
          ...options,
        },
      );
      const publish = (events: readonly Event[]) =>
        publisherOf(stage.bus, 't', 0).publish(events.flatMap((one) => messagesOf(one, stage.routes(one))));
      const join = async (client: Client) => {
        const { query, variables } = operationOf(client);
        const start = { cursor: undefined, replaysLast: client.isLate };
        const { received } = await stage.join(query, client.facts, variables, start);
        const resultsOf = (events: readonly Event[]) =>
          events.filter((one) => isFor(client, one)).map((one) => unshared(client, one, { value, root }));
        const first = client.isLate ? resultsOf(lastOf(client, before)).map(asInitial) : resultsOf(before);
        return { client, received, expected: [...first, ...resultsOf(after)] };
      };
      const joined = await Promise.all(clients.filter(({ isLate }) => !isLate).map(join));
      await publish(before);
      joined.push(...(await Promise.all(clients.filter(({ isLate }) => isLate).map(join))));
      await publish(after);
      await waitFor('all results', () => joined.every(({ received, expected }) => received.length >= expected.length));
      // What is delivered twice comes in the same turns.
      for (let turn = 0; turn < 3; turn++) await nextTurn();
      for (const { client, received, expected } of joined) {
        // Between channels there is no order.
        if (new Set(client.args.ids).size > 1) assert.deepEqual(received.toSorted(), expected.toSorted());
        else assert.deepEqual(received, expected);
      }
    } finally {
      for (const end of ends.reverse()) await end();
    }
  });
}

function messagesOf({ tenant, ...payload }: Event, channels: readonly string[]) {
  const record = printParts({ key: payload.id, headers: { tenant } });
  return channels.map((channel) => ({ channel, payload: JSON.stringify(payload), history: HISTORY_DEFAULTS, record }));
}

function operationOf({ args, hasLiterals }: Request) {
  if (!hasLiterals) {
    const query = `subscription ($ids: [ID!], $min: Int, $tags: [String!]) { event(ids: $ids, min: $min, tags: $tags) ${SELECTION} }`;
    return { query, variables: { ...args } };
  }
  const given = Object.entries(args).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return {
    query: `subscription { event${given.length > 0 ? `(${given.join()})` : ''} ${SELECTION} }`,
    variables: undefined,
  };
}

/** The text of a result with which a subscription begins. */
function asInitial(result: string): string {
  return `${result.slice(0, -1)},"extensions":{"initial":true}}`;
}

/** The last event of each channel of a client. */
function lastOf({ args: { ids } }: Client, events: readonly Event[]): Event[] {
  if (!ids) return events.slice(-1);
  return [...new Set(ids)].flatMap((one) => events.findLast((event) => event.id === one) ?? []);
}

/** Written without the code under test. */
function isFor({ args: { ids, min, tags } }: Client, one: Event): boolean {
  if (ids && !ids.includes(one.id)) return false;
  if (typeof min === 'number' && !(one.total !== undefined && one.total >= min)) return false;
  return !tags || (typeof one.tag === 'string' && tags.includes(one.tag));
}

const NO_BACKENDS = { send: () => Promise.reject(new Error('there is none')) };

/** The result of graphql-js as text, for one client and one event. */
function unshared(
  client: Client,
  { tenant, ...payload }: Event,
  { value, root }: { readonly value: Resolver; readonly root: Resolver | undefined },
): string {
  const schema = buildSchema(SDL, { assumeValidSDL: true });
  const { connection } = createContext({}, NO_BACKENDS, client.facts);
  const record = { key: payload.id, headers: { tenant } };
  const resolve = (type: string, field: string, resolver: Resolver) =>
    Object.assign((schema.getType(type) as GraphQLObjectType).getFields()[field]!, { resolve: resolver });
  resolve('Event', 'value', value);
  resolve('Event', 'key', () => record.key);
  resolve('Event', 'tenant', () => record.headers.tenant);
  resolve('Subscription', 'event', root ?? ((source) => source));
  const { query, variables } = operationOf(client);
  return JSON.stringify(
    execute({
      schema,
      document: parse(query),
      rootValue: payload,
      contextValue: { connection, record },
      variableValues: variables,
    }),
  );
}
