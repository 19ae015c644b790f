import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { printParts } from '../../../../src/bus/carried-parts.ts';
import { printChange, splitChange } from '../../../../src/bus/change-text.ts';
import type { ChangeOperation } from '../../../../src/bus/change-text.ts';
import { HISTORY_DEFAULTS } from '../../../../src/bus/history.ts';
import { Cursors } from '../../../../src/gateway/fanout/resume/cursor.ts';
import type { ExecutionContext } from '../../../../src/graph/context/context.ts';
import type { EventFilter } from '../../../../src/graph/filter/event-filter.ts';
import { RowPayload, RowReader } from '../../../../src/graph/row-payload.ts';
import { publisherOf } from '../../../support/partition-publisher.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { createStage, factsOf } from '../stage.ts';
import type { StageOptions } from '../stage.ts';

const KEPT = 'topic: "t", envelope: DEBEZIUM, history: {}, replay: LAST';
const MIN = '{ arg: "min", path: "n", op: GTE }';
const ROWS = `${KEPT}, where: [{ claim: "tenant", path: "tenant" }, ${MIN}]`;
const SDL = `
  type Subscription {
    one(id: ID!, min: Int): Row @kafka(${ROWS}, match: [{ arg: "id", path: "id" }], tombstone: ROW)
    nulled(id: ID!, min: Int): Row @kafka(${ROWS}, match: [{ arg: "id", path: "id" }], tombstone: NULL)
    all(min: Int): Row @kafka(${ROWS}, tombstone: ROW)
    paced_one(id: ID!, min: Int): Row @kafka(${ROWS}, match: [{ arg: "id", path: "id" }], tombstone: ROW, pace: { ms: 10 })
    paced_nulled(id: ID!, min: Int): Row @kafka(${ROWS}, match: [{ arg: "id", path: "id" }], tombstone: NULL, pace: { ms: 10 }, slow: LATEST)
    paced_all(min: Int): Row @kafka(${ROWS}, tombstone: ROW, pace: { ms: 10 })
    headed(id: ID!, tenant: ID!, min: Int): Row
      @kafka(${KEPT}, where: [${MIN}], match: [{ arg: "id", path: "id" }, { arg: "tenant", header: "tenant" }], tombstone: NULL)
  }
  type Row { id: ID tenant: String n: Int op: String @change(field: OP) before: Was @change(field: BEFORE) user: ID }
  type Was { id: ID tenant: String n: Int }`;
const SELECTION = '{ id tenant n op user before { id tenant n } }';

interface Row {
  readonly id: string;
  readonly tenant: string;
  readonly n: number;
  /** True: a resolver reads the connection. Results of other rows are shared, so they must name no user. */
  readonly is_private: boolean;
}

/** Of one row. `row`: null deletes it; 'read': it is read from the table as it is. */
interface Write {
  readonly id: string;
  readonly row: Omit<Row, 'id'> | null | 'read';
}

interface Change {
  readonly op: ChangeOperation;
  readonly row: Row | null;
  /** null: not known, or there was none. */
  readonly before: Row | null;
}

interface Client {
  readonly user: string;
  readonly tenant: string;
  /** `headed`: its tenant is a header of the record. What the row before was is then unknown. */
  readonly field: 'one' | 'nulled' | 'all' | 'headed';
  readonly id: string;
  readonly min: number | null;
  /** `early`: there from the beginning; `resuming`: away while half of the changes come; `late`: begins after these, with the last event of its row. */
  readonly kind: 'early' | 'resuming' | 'late';
  /** True: it receives the newest changes alone. */
  readonly isPaced: boolean;
}

const id = fc.constantFrom('1', '2');
const tenant = fc.constantFrom('a', 'b');
const writesOf = fc.array(
  fc.record<Write>({
    id,
    row: fc.oneof(
      { weight: 4, arbitrary: fc.record({ tenant, n: fc.nat(3), is_private: fc.boolean() }) },
      { weight: 1, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.constant('read' as const) },
    ),
  }),
  { minLength: 1, maxLength: 5 },
);
const clientOf = fc
  .record<Client>({
    user: fc.constantFrom('ann', 'bob', 'cid'),
    tenant,
    field: fc.constantFrom('one', 'nulled', 'all', 'headed'),
    id,
    min: fc.option(fc.nat(3)),
    kind: fc.constantFrom('early', 'resuming', 'late'),
    isPaced: fc.nat(3).map((n) => n === 0),
  })
  .map((client): Client => (client.field === 'headed' ? { ...client, isPaced: false } : client))
  // The last event of a channel says nothing of its other rows.
  .map((client): Client => (client.field === 'all' && client.kind === 'late' ? { ...client, kind: 'early' } : client));

/** Protections of the code under test that a twin goes without. */
export interface Fault {
  /** What a message says of the row before is believed, although that row was in another channel. */
  readonly believesBefore?: boolean;
  /** Filters look at the row alone. */
  readonly forgetsBefore?: boolean;
}

/**
 * Clients of two tenants, with random filters, follow a table that changes at random: each receives exactly the changes of the rows that it may
 * see, and its copy equals the table. The worker is mistaken: it also sends rows before to channels that they were not in.
 */
export function rowProperty(options: Partial<StageOptions> = {}, fault: Fault = {}) {
  const cases = fc.record({
    clients: fc.array(clientOf, { minLength: 2, maxLength: 6 }),
    phases: fc.tuple(writesOf, writesOf, writesOf),
    jitAfterUses: fc.constantFrom(0, 1, 3),
    hasProjection: fc.boolean(),
  });
  return fc.asyncProperty(cases, async ({ clients, phases, ...mode }) => {
    const ends: (() => void | Promise<void>)[] = [];
    const restore = plant(fault);
    try {
      const user = ({ is_private }: Row, _: unknown, { connection }: ExecutionContext) =>
        is_private ? connection.claims['user'] : 'anybody';
      const stage = await createStage(
        { after: (end: () => void | Promise<void>) => void ends.push(end) },
        { sdl: SDL, resolvers: { Row: { user } }, cursors: new Cursors('secret'), ...mode, ...options },
      );
      const table = new Map<string, Row>();
      const changes: Change[] = [];
      const write = async (writes: readonly Write[]) => {
        for (const one of writes) {
          const change = changeOf(one, table);
          if (!change) continue;
          changes.push(change);
          await publisherOf(stage.bus, 't', 0).publish(messagesOf(change, one.id, stage));
        }
      };
      const join = async (client: Client, cursor?: string) => {
        const { field, min, tenant: own } = client;
        const of = { ...(field !== 'all' && { id: client.id }), ...(field === 'headed' && { tenant: own }) };
        const [declared, args] = [['$min: Int'], ['min: $min']];
        for (const name of Object.keys(of)) {
          declared.push(`$${name}: ID!`);
          args.push(`${name}: $${name}`);
        }
        const query = `subscription (${declared.join()}) { ${nameOf(client)}(${args.join()}) ${SELECTION} }`;
        const start = { cursor, replaysLast: client.kind === 'late' };
        return stage.join(query, factsOf(client.user, { user: client.user, tenant: own }), { ...of, min }, start);
      };
      const joined = await Promise.all(
        clients.filter(({ kind }) => kind !== 'late').map(async (client) => ({ client, listener: await join(client), first: 0, earlier: [] as string[] })), // prettier-ignore
      );
      const settle = async () => {
        await waitFor('all results', () =>
          joined.every(({ client, listener, first, earlier }) => {
            if (client.isPaced)
              return isDeepStrictEqual(copyOf(receivedBy(client, earlier, listener)), visibleTo(client, table));
            return earlier.length + listener.received.length >= expectedOf(client, changes, first).length;
          }),
        );
        // What is delivered to a wrong client, or twice, comes in the same turns.
        for (let turn = 0; turn < 3; turn++) await nextTurn();
      };
      const [before, away, after] = phases;
      await write(before);
      await settle();
      const leaving = joined.filter(
        ({ client, listener }) => client.kind === 'resuming' && listener.received.length > 0,
      );
      for (const { listener } of leaving) listener.leave();
      await write(away);
      for (const one of leaving) {
        one.earlier.push(...one.listener.received);
        const { extensions } = JSON.parse(one.earlier.at(-1)!) as { extensions: { cursor: string } };
        one.listener = await join(one.client, extensions.cursor);
      }
      const late = clients.filter(({ kind }) => kind === 'late');
      const first = changes.length;
      joined.push(
        ...(await Promise.all(
          late.map(async (client) => ({ client, listener: await join(client), first, earlier: [] })),
        )),
      );
      await settle();
      await write(after);
      await settle();
      for (const one of joined) {
        const received = receivedBy(one.client, one.earlier, one.listener);
        assert.equal(foreignTo(one.client, received), 0, 'foreign results');
        if (!one.client.isPaced) assert.deepEqual(received, expectedOf(one.client, changes, one.first));
        // Nobody tells it of rows that leave it, without state.
        if (one.client.field === 'headed') continue;
        assert.deepEqual(copyOf(received), visibleTo(one.client, table));
      }
    } finally {
      for (const end of ends.reverse()) await end();
      restore();
    }
  });
}

const nameOf = ({ field, isPaced }: Client) => (isPaced ? `paced_${field}` : field);
const receivedBy = (
  client: Client,
  earlier: readonly string[],
  { received }: { readonly received: readonly string[] },
) => [...earlier, ...received].map((text) => dataOf(text, client));
const visibleTo = (client: Client, table: ReadonlyMap<string, Row>) =>
  [...table.values()]
    .filter((row) => sees(client, row))
    .map(shown)
    .sort(byId);

/** Writes to the table. undefined: nothing changes. */
function changeOf({ id: of, row: written }: Write, table: Map<string, Row>): Change | undefined {
  const before = table.get(of) ?? null;
  if (written === 'read') return before ? { op: 'READ', row: before, before: null } : undefined;
  if (written === null) {
    table.delete(of);
    return before ? { op: 'DELETE', row: null, before } : undefined;
  }
  const row = { id: of, ...written };
  table.set(of, row);
  return { op: before ? 'UPDATE' : 'CREATE', row, before };
}

function messagesOf(
  { op, row, before }: Change,
  key: string,
  stage: Pick<Awaited<ReturnType<typeof createStage>>, 'changeRoutes'>,
) {
  const headers = { tenant: Buffer.from((row ?? before!).tenant) };
  const { entered, stayed, left, untold } = stage.changeRoutes(row, before ?? undefined, {
    key: Buffer.from(key),
    headers,
  });
  const text = before ? JSON.stringify(before) : undefined;
  const message = (payload: string) => (route: { readonly channel: string }) => ({
    channel: route.channel,
    payload,
    history: HISTORY_DEFAULTS,
    record: printParts({ headers: {}, id: key }),
  });
  const told = message(JSON.stringify(row) + printChange({ op }, text));
  const gone = message(`null${printChange({ op: 'DELETE' }, text)}`);
  return [...[...untold, ...left].map(gone), ...[...stayed, ...entered].map(told)];
}

interface Shown {
  readonly id: string;
  readonly tenant: string;
  readonly n: number;
}

/** The data of an event; null: the row is gone. */
type Event = (Shown & { readonly op: ChangeOperation; readonly user: string; readonly before: Shown | null }) | null;

const shown = ({ id: of, tenant: own, n }: Shown): Shown => ({ id: of, tenant: own, n });
const byId = (one: Shown, other: Shown) => (one.id < other.id ? -1 : 1);

/** True if the row is in the channel of the client. Written without the code under test, as all below. */
const isIn = ({ field, id: of, tenant: own }: Client, row: Row | null): row is Row =>
  row?.tenant === own && (field === 'all' || row.id === of);
const sees = (client: Client, row: Row | null): row is Row =>
  isIn(client, row) && (client.min === null || row.n >= client.min);

/** @param first changes before this one come as the last one alone */
function expectedOf(client: Client, changes: readonly Change[], first: number): Event[] {
  const events: Event[] = [];
  const eventOf = ({ op, row }: Change, before: Row | null): Event => ({
    ...shown(row!),
    op,
    user: row!.is_private ? client.user : 'anybody',
    before: before && shown(before),
  });
  const isHeaded = client.field === 'headed';
  const deleteOf = (row: Row) =>
    events.push(client.field === 'nulled' || isHeaded ? null : eventOf({ op: 'DELETE', row, before: null }, row));
  const isOf = ({ row, before }: Change) => isIn(client, row) || (isIn(client, before) && (!isHeaded || row === null));
  const last = changes.slice(0, first).findLast(isOf);
  for (const change of [...(last ? [last] : []), ...changes.slice(first)]) {
    const { row, before } = change;
    if (sees(client, row)) events.push(eventOf(change, !isHeaded && isIn(client, before) ? before : null));
    else if (isHeaded) {
      // A delete reaches all of the channel, whatever their filters are.
      if (row === null && isIn(client, before)) deleteOf(before);
    } else if (sees(client, before) && (change !== last || !isIn(client, row))) deleteOf(before);
  }
  return events;
}

function dataOf(text: string, client: Client): Event {
  return (JSON.parse(text) as { data: Record<string, Event> }).data[nameOf(client)]!;
}

function foreignTo({ user, tenant: own }: Client, events: readonly Event[]): number {
  const isForeign = (event: Event) =>
    event !== null &&
    (event.tenant !== own || ![user, 'anybody'].includes(event.user) || (event.before ?? event).tenant !== own);
  return events.filter(isForeign).length;
}

/** The rows of which a client has the last word. A null is of its only row. */
function copyOf(events: readonly Event[]): Shown[] {
  const copy = new Map<string, Shown>();
  for (const event of events) {
    if (event === null) copy.clear();
    else if (event.op === 'DELETE') copy.delete(event.id);
    else copy.set(event.id, shown(event));
  }
  return [...copy.values()].sort(byId);
}

/** Plants a fault, until the returned function is called. */
function plant({ believesBefore, forgetsBefore }: Fault): () => void {
  const whole = [RowReader.prototype, RowPayload.prototype].map(
    (prototype) => [prototype, Object.getOwnPropertyDescriptors(prototype)] as const,
  );
  if (believesBefore)
    RowReader.prototype.read = (payload, coordinates) => {
      const { row, change } = splitChange(payload);
      return new RowPayload(row, change, undefined, '', coordinates);
    };
  if (forgetsBefore)
    RowPayload.prototype.outcomeFor = function (this: RowPayload, filter: EventFilter | undefined) {
      if (this.isDeleted) return 'deleted';
      return !filter || filter.accepts(this) ? 'present' : undefined;
    };
  return () => {
    for (const [prototype, descriptors] of whole) Object.defineProperties(prototype, descriptors);
  };
}
