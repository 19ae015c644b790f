import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TestContext } from 'node:test';
import { GraphQLScalarType } from 'graphql';
import { printParts } from '../../../../src/bus/carried-parts.ts';
import type { ExecutionContext } from '../../../../src/graph/context/context.ts';
import { TextPayload } from '../../../../src/graph/payload.ts';
import { publisherOf } from '../../../support/partition-publisher.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { createStage, factsOf, textOf } from '../stage.ts';
import type { StageOptions } from '../stage.ts';

const SDL = `
  type Subscription {
    secret(rooms: [ID!], min: Int, tags: [String!]): Secret @kafka(
      topic: "t", payload: "secret", match: { arg: "rooms", path: "secret.room" }, record: { key: true, headers: ["owner"] }
      where: [{ arg: "min", path: "secret.total", op: GTE }, { arg: "tags", path: "secret.tag", op: IN }]
    )
  }
  type Secret {
    id: ID room: ID total: Int tag: String
    value(rooms: [ID!], min: Int): Any key: ID @record(field: KEY) owner: ID @record(field: HEADER, name: "owner")
    private: ID @record(field: KEY) scoped: ID @record(field: KEY) @requiresScopes(scopes: [["read"]])
  }
  scalar Any`;
const queryOf = (field: string) => `subscription ($rooms: [ID!], $min: Int, $tags: [String!]) {
  secret(rooms: $rooms, min: $min, tags: $tags) { id key owner ${field} }
}`;

interface Event {
  readonly id: string;
  readonly room: string;
  readonly total: number;
  readonly tag: string;
  /** A header of the record. */
  readonly owner: string;
}

const EVENTS: readonly Event[] = [
  { id: '1', room: 'a', total: 1, tag: 'red', owner: 'alice' },
  { id: '2', room: 'b', total: 5, tag: 'blue', owner: 'bob' },
  { id: '3', room: 'b', total: 1, tag: 'red', owner: 'alice' },
  { id: '4', room: 'c', total: 5, tag: 'red', owner: 'bob' },
];

type Context = Pick<ExecutionContext, 'connection' | 'record'>;
type User = 'alice' | 'bob';

/** What one of two users selects, or what a resolver reads, that the other one's results must not show. */
export interface SelectionRow {
  readonly name: string;
  /** Variables by user; undefined: none. */
  readonly variables?: Readonly<Record<User, object>>;
  /** Ids of the events that each user must receive; undefined: all of them. */
  readonly receives?: Readonly<Record<User, string>>;
  /** Default: `value`. */
  readonly field?: 'private' | 'scoped';
  /** Of the field `value`. Default: the arguments of the client. */
  readonly resolve?: (source: unknown, args: unknown, context: Context) => unknown;
  /** Without the protection that this removes, one user receives results of the other one. */
  readonly twin: Pick<StageOptions, 'forgetsReads' | 'hasOneSharingKey'>;
}

const userOf = ({ connection }: Context) => connection.claims['user'];
const isOwner = (context: Context) => context.record!.headers['owner'] === userOf(context);

export const selectionRows: readonly SelectionRow[] = [
  {
    name: 'a bound of `where`',
    variables: { alice: { min: 1 }, bob: { min: 5 } },
    receives: { alice: '1234', bob: '24' },
    twin: { hasOneSharingKey: true },
  },
  {
    name: 'a list of `where`',
    variables: { alice: { tags: ['red', 'blue'] }, bob: { tags: ['blue'] } },
    receives: { alice: '1234', bob: '2' },
    twin: { hasOneSharingKey: true },
  },
  {
    name: 'a null, which lets every event pass `where`',
    variables: { alice: { min: null }, bob: { min: 5 } },
    receives: { alice: '1234', bob: '24' },
    twin: { hasOneSharingKey: true },
  },
  {
    name: 'a claim, for events that `where` selects for both',
    variables: { alice: { min: 5 }, bob: { min: 5 } },
    receives: { alice: '24', bob: '24' },
    resolve: (_, __, context) => userOf(context),
    twin: { forgetsReads: true },
  },
  {
    name: 'a list that shares a channel with the other list',
    variables: { alice: { rooms: ['a', 'b'] }, bob: { rooms: ['b', 'c'] } },
    receives: { alice: '123', bob: '234' },
    twin: { hasOneSharingKey: true },
  },
  {
    name: 'a list of the same values in another order',
    variables: { alice: { rooms: ['a', 'b'] }, bob: { rooms: ['b', 'a'] } },
    receives: { alice: '123', bob: '123' },
    twin: { hasOneSharingKey: true },
  },
  {
    name: 'a claim, for events of an equal list',
    variables: { alice: { rooms: ['b', 'c'] }, bob: { rooms: ['b', 'c'] } },
    receives: { alice: '234', bob: '234' },
    resolve: (_, __, context) => userOf(context),
    twin: { forgetsReads: true },
  },
  {
    name: 'a claim beside fields with @record',
    resolve: (_, __, context) => `${String(context.record!.key)} for ${String(userOf(context))}`,
    twin: { forgetsReads: true },
  },
  {
    name: 'a claim that equals a header of the record',
    resolve: (_, __, context) => (isOwner(context) ? context.record!.key : 'hidden'),
    twin: { forgetsReads: true },
  },
  {
    name: 'a field with @record that authorize refuses to others than the owner',
    field: 'private',
    twin: { forgetsReads: true },
  },
  {
    name: 'a field with @record that demands a scope',
    field: 'scoped',
    twin: { forgetsReads: true },
  },
];

/** Alice twice, and Bob. Only Alice has the scope. */
function people() {
  return [
    factsOf('a1', { user: 'alice', scope: 'read' }),
    factsOf('a2', { user: 'alice', scope: 'read' }),
    factsOf('bob', { user: 'bob' }),
  ];
}

/** What each of them receives of the events of all rooms, and the results of executions of their own. */
export async function playSelection(t: TestContext, row: SelectionRow, options: Partial<StageOptions>) {
  const { resolve = (_: unknown, args: unknown) => args, field = 'value(rooms: $rooms, min: $min)' } = row;
  const stage = await createStage(t, {
    sdl: SDL,
    resolvers: {
      Secret: {
        value: resolve,
        private: { authorize: (_: unknown, __: unknown, context: Context) => isOwner(context) },
      },
      Any: new GraphQLScalarType({ name: 'Any' }),
    },
    ...options,
  });
  const listeners: { readonly received: readonly string[]; readonly alone: readonly string[] }[] = [];
  // One after the other, so that the twin's group has Alice's filter.
  for (const facts of people()) {
    const user = facts.claims['user'] as User;
    const { received, subscription } = await stage.join(queryOf(field), facts, { ...row.variables?.[user] });
    const selected = EVENTS.filter(({ id }) => row.receives?.[user].includes(id) ?? true);
    const alone = selected.map(async (event) => {
      const { json } = await stage.runtime.startEvent(payloadOf(event)).execute(subscription);
      return textOf(json);
    });
    listeners.push({ received, alone: await Promise.all(alone) });
  }
  const before = stage.executions;
  await publisherOf(stage.bus, 't', 0).publish(
    EVENTS.flatMap((event) => {
      const payload = textOfEvent(event);
      return stage.routes(JSON.parse(payload)).map((channel) => ({ channel, payload, record: partsOf(event) }));
    }),
  );
  await waitFor('all results', () => listeners.every(({ received, alone }) => received.length >= alone.length));
  // What is delivered to a wrong client comes in the same turns.
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  return { listeners, executions: stage.executions - before };
}

const textOfEvent = ({ id, room, total, tag }: Event) => JSON.stringify({ secret: { id, room, total, tag } });
const partsOf = ({ id, owner }: Event) => printParts({ key: `key of ${id}`, headers: { owner } });

function payloadOf(event: Event): TextPayload {
  const coordinates = { epoch: 1, partition: 0, offset: Number(event.id), timestamp: 0, record: partsOf(event) };
  return new TextPayload(Buffer.from(textOfEvent(event)), undefined, 't{}', coordinates);
}
