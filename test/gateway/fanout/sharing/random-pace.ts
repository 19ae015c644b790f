import assert from 'node:assert/strict';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { printParts } from '../../../../src/bus/carried-parts.ts';
import { HISTORY_DEFAULTS } from '../../../../src/bus/history.ts';
import { Cursors } from '../../../../src/gateway/fanout/resume/cursor.ts';
import type { ExecutionContext } from '../../../../src/graph/context/context.ts';
import { publisherOf } from '../../../support/partition-publisher.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { createStage, factsOf } from '../stage.ts';
import type { Listener, StageOptions } from '../stage.ts';

const PACE = 'pace: { ms: 10, arg: "every_ms" }';
const RULES = 'topic: "t", history: {}, where: [{ arg: "min", path: "n", op: GTE }]';
const ARGUMENTS = '(min: Int, every_ms: Int)';
const SDL = `
  type Subscription {
    paced${ARGUMENTS}: Item @kafka(${RULES}, ${PACE})
    latest${ARGUMENTS}: Item @kafka(${RULES}, slow: LATEST, unused: ["every_ms"])
    both${ARGUMENTS}: Item @kafka(${RULES}, ${PACE}, slow: LATEST)
    every${ARGUMENTS}: Item @kafka(${RULES}, unused: ["every_ms"])
  }
  type Item { key: ID n: Int at: Int user: ID }`;
const CHANNEL = 't{}';
const KEYS = ['a', 'b', 'c'] as const;

interface Item {
  readonly key: string;
  readonly n: number;
  /** Counts the events. */
  readonly at: number;
  /** True: a resolver reads the connection. Results of other events are shared, so they must name no user. */
  readonly is_private: boolean;
}

interface Client {
  readonly user: string;
  readonly field: 'paced' | 'latest' | 'both' | 'every';
  readonly min: number | null;
  readonly every_ms: number | null;
  /** Steps after which it joins, and after which it is away for a while; its client resumes then. */
  readonly joins: number;
  readonly leaves: number;
}

type Step = { readonly publish: readonly Omit<Item, 'at'>[] } | { readonly lag: number } | { readonly ms: number };

const itemOf = fc.record({ key: fc.constantFrom(...KEYS), n: fc.nat(3), is_private: fc.boolean() });
const stepOf: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ publish: fc.array(itemOf, { minLength: 1, maxLength: 8 }) }) },
  { weight: 3, arbitrary: fc.record({ lag: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ ms: fc.constantFrom(0, 3, 12) }) },
);
const clientOf = fc.record<Client>({
  user: fc.constantFrom('ann', 'bob', 'cid'),
  field: fc.constantFrom('paced', 'latest', 'both', 'every'),
  min: fc.option(fc.nat(3)),
  every_ms: fc.option(fc.constantFrom(10, 25)),
  joins: fc.nat(3),
  leaves: fc.nat(8),
});

interface Shown extends Item {
  readonly user: string;
  readonly skipped: number;
  readonly cursor: string;
}

/**
 * Clients with random filters, paces and sockets, that join, leave and resume: each receives results of its own events alone, of each key newer and
 * newer ones up to the newest, and every event that it does not receive is told.
 */
export function paceProperty(options: Partial<StageOptions> = {}) {
  const cases = fc.record({
    clients: fc.array(clientOf, { minLength: 2, maxLength: 6 }),
    steps: fc.array(stepOf, { minLength: 2, maxLength: 12 }),
    jitAfterUses: fc.constantFrom(0, 1, 3),
    hasProjection: fc.boolean(),
  });
  return fc.asyncProperty(cases, async ({ clients, steps, ...mode }) => {
    const ends: (() => void | Promise<void>)[] = [];
    try {
      const user = ({ is_private }: Item, _: unknown, { connection }: ExecutionContext) =>
        is_private ? connection.id : 'anybody';
      const stage = await createStage(
        { after: (end: () => void | Promise<void>) => void ends.push(end) },
        { sdl: SDL, resolvers: { Item: { user } }, cursors: new Cursors('secret'), ...mode, ...options },
      );
      const items: Item[] = [];
      const publish = async (written: readonly Omit<Item, 'at'>[]) => {
        const first = items.length;
        items.push(...written.map((one, i) => ({ ...one, at: first + i })));
        const messages = items.slice(first).map((item) => ({
          channel: CHANNEL,
          payload: JSON.stringify(item),
          history: HISTORY_DEFAULTS,
          record: printParts({ headers: {}, id: item.key }),
        }));
        await publisherOf(stage.bus, 't', 0).publish(messages);
        // A client that joins while an event waits for its turn receives it.
        for (let turn = 0; turn < 3; turn++) await nextTurn();
      };
      const join = ({ user: id, field, min, every_ms }: Client, cursor?: string) =>
        stage.join(
          `subscription ($min: Int, $every_ms: Int) { ${field}(min: $min, every_ms: $every_ms) { key n at user } }`,
          factsOf(id, {}),
          { min, every_ms },
          { cursor, replaysLast: false, hasHistory: true },
        );
      const players = clients.map((client) => new Player(client));
      for (const [number, step] of steps.entries()) {
        for (const player of players) await player.turn(number, items.length, join);
        if ('publish' in step) await publish(step.publish);
        else if ('lag' in step) players[step.lag]?.lag();
        else await delay(step.ms);
      }
      for (const player of players) await player.end(items.length, join);
      await waitFor('the newest events', () => players.every((player) => player.isCurrent(items)));
      for (const player of players) player.check(items);
      for (const player of players) player.leave();
      await waitFor('no held bytes', () => stage.heldBytes() === 0, 20_000);
    } finally {
      for (const end of ends.reverse()) await end();
    }
  });
}

type Join = (client: Client, cursor?: string) => Promise<Listener>;

class Player {
  readonly #client: Client;
  #listener: Listener | undefined;
  readonly #earlier: Shown[] = [];
  /** Number of the first event after its join. */
  #first: number | undefined;
  #hasResumed = false;

  constructor(client: Client) {
    this.#client = client;
  }

  async turn(step: number, published: number, join: Join): Promise<void> {
    const { joins, leaves } = this.#client;
    if (step === joins) await this.end(published, join);
    if (step !== joins + leaves || !this.#listener) return;
    const last = this.#received.at(-1);
    // One that has received nothing has no cursor.
    if (!last) return;
    this.leave();
    this.#earlier.push(...this.#shown);
    this.#listener = undefined;
    this.#hasResumed = true;
  }

  /** It is there and reads. */
  async end(published: number, join: Join): Promise<void> {
    this.#first ??= published;
    this.#listener ??= await join(this.#client, this.#earlier.at(-1)?.cursor);
    this.#listener.socket.isBackpressured = false;
  }

  lag(): void {
    const { field } = this.#client;
    const socket = this.#listener?.socket;
    if (socket && (field === 'latest' || field === 'both')) socket.isBackpressured = !socket.isBackpressured;
  }

  leave(): void {
    this.#listener?.leave();
  }

  isCurrent(items: readonly Item[]): boolean {
    return KEYS.every((key) => {
      const newest = this.#own(items).findLast((item) => item.key === key);
      return !newest || this.#received.findLast((item) => item.key === key)?.at === newest.at;
    });
  }

  check(items: readonly Item[]): void {
    const own = this.#own(items);
    const last = new Map<string, number>();
    for (const { key, at, n, user } of this.#received) {
      const item = items[at]!;
      assert.deepEqual({ key, n }, { key: item.key, n: item.n });
      assert.equal(user, item.is_private ? this.#client.user : 'anybody');
      assert.ok(own.includes(item), 'an event that it must not receive');
      // After a resume an event may come again, but none that is older than what it has.
      assert.ok(at > (last.get(key) ?? -1) || (this.#hasResumed && at === last.get(key)), 'an older event');
      last.set(key, at);
    }
    if (this.#hasResumed) return;
    const told = this.#received.reduce((sum, { skipped }) => sum + 1 + skipped, 0);
    // A result that clients share may replace events from before the join of one of them.
    if (this.#first === 0) assert.equal(told, own.length, 'an event was left out silently');
    else assert.ok(told >= own.length, 'an event was left out silently');
  }

  get #received(): Shown[] {
    return [...this.#earlier, ...(this.#listener ? this.#shown : [])];
  }

  get #shown(): Shown[] {
    return this.#listener!.received.map((text) => {
      const { data, extensions } = JSON.parse(text) as {
        data: Record<string, Shown>;
        extensions: { skipped?: number; cursor: string };
      };
      return { ...data[this.#client.field]!, skipped: extensions.skipped ?? 0, cursor: extensions.cursor };
    });
  }

  #own(items: readonly Item[]): Item[] {
    const { min } = this.#client;
    return items.slice(this.#first).filter(({ n }) => min === null || n >= min);
  }
}
