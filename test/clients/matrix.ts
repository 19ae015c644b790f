import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { waitFor } from '../support/wait-for.ts';
import type { Client, StartClient, Subscription } from './client.ts';
import type { Pods } from './pods.ts';

/** What each client is put through, by the head of its column. */
export const COLUMNS = [
  'receives',
  'refusal',
  'completes',
  'drain',
  '1012',
  '1013',
  '4403',
  'network',
  'resumes',
] as const;
export type Column = (typeof COLUMNS)[number];

/** What a client did. */
export type Row = Readonly<Record<Column, string>>;

/** The client did what the column says by itself. */
export const YES = '✓';
/** The client told its application, which subscribed again. */
export const TOLD = 'told';
/** The client came back by itself, and events that were published meanwhile are missing. */
export const NO = 'no';

/** A client starts in seconds, on a busy machine. */
const PATIENCE_MS = 60_000;
/** Clients wait for some seconds before they connect again, and longer for each refusal. */
const RETURN_MS = 45_000;
const INTERVAL_MS = 100;
const OUTAGE_MS = 2_000;
/** Of a connection, in s, beside twice the time that the client takes to start. */
const TOKEN_SECONDS = 3;

/** The operation's name is that of the fixture of Relay. */
const operation = (fields: string) =>
  `subscription ordersSubscription($id: ID!) { order_updated(id: $id) { ${fields} } }`;

const isOver = ({ errors, isComplete }: Subscription) => errors.length > 0 || isComplete;

const statusesOf = ({ events }: Subscription): string[] =>
  events.map((data) => (data as { order_updated: { status: string } }).order_updated.status);

/** Of records that are published one after the other. */
class Flow {
  readonly published: string[] = [];
  #isOn = true;
  readonly #done: Promise<void>;

  constructor(pods: Pods, id: string) {
    this.#done = this.#run(pods, id);
  }

  async #run(pods: Pods, id: string): Promise<void> {
    while (this.#isOn) {
      this.published.push(`${this.published.length}`);
      await pods.publish(id, this.published.at(-1)!);
      await delay(INTERVAL_MS);
    }
  }

  stop(): Promise<void> {
    this.#isOn = false;
    return this.#done;
  }
}

interface Return {
  readonly how: typeof YES | typeof TOLD;
  /** Each event came once, in order. */
  readonly isExact: boolean;
}

export class Trial {
  readonly #pods: Pods;
  readonly #start: StartClient;
  #orders = 0;
  /** Of one client: not each of them ends them when it is closed. */
  readonly #started: Subscription[] = [];
  /** The longest time in s that it took to subscribe. */
  #startSeconds = 0;

  constructor(pods: Pods, start: StartClient) {
    this.#pods = pods;
    this.#start = start;
  }

  /** Of a client without subscriptions: it receives the answer to a query. */
  async query(onCell: (column: Column, outcome: string) => void): Promise<Partial<Row>> {
    const client = this.#start(this.#pods.url, this.#pods.access);
    const { events, errors } = client.subscribe('{ __typename }', {});
    await waitFor('the answer', () => events.length + errors.length > 0);
    assert.deepEqual([errors, events], [[], [{ __typename: 'Query' }]]);
    onCell('receives', YES);
    return { receives: YES };
  }

  /** @param left columns that do not concern the client @param onCell called with each outcome */
  async run(left: ReadonlySet<Column>, onCell: (column: Column, outcome: string) => void): Promise<Partial<Row>> {
    const row: Partial<Record<Column, string>> = {};
    const returns: Partial<Record<Column, Return>> = {};
    const measure = async (column: Column, run: () => Promise<string>) => {
      if (left.has(column)) return;
      row[column] = await run().catch((error: Error) => error.message.replaceAll(/\s+/g, ' '));
      onCell(column, row[column]);
    };
    const interrupt = (column: Column, disturb: (id: string) => Promise<void>) =>
      measure(column, async () => (returns[column] = await this.#interrupt(disturb, column === '4403')).how);
    await measure('receives', () => this.#receives());
    await measure('refusal', () => this.#refusal());
    await measure('completes', () => this.#completes());
    await interrupt('drain', () => this.#pods.replaceGateway());
    await interrupt('1012', () => Promise.resolve(this.#pods.closeSocket(1012)));
    await interrupt('1013', (id) => this.#pods.flood(id, 'flood'));
    await interrupt('4403', () => delay(this.#tokenSeconds * 1000));
    await interrupt('network', () => this.#pods.cutNetwork(OUTAGE_MS));
    await measure('resumes', () => {
      const exact = [returns.drain, returns['4403'], returns.network].every((one) => one?.how === YES && one.isExact);
      return Promise.resolve(exact ? YES : NO);
    });
    return row;
  }

  /** Each outcome is of a client of its own, and an order of its own. */
  async #with<T>(use: (client: Client, id: string) => Promise<T>): Promise<T> {
    const client = this.#start(this.#pods.url, this.#pods.access);
    try {
      return await use(client, `${++this.#orders}`);
    } finally {
      for (const told of this.#started.splice(0)) if (!isOver(told)) told.stop();
      await client.close();
      await this.#pods.channels(0);
    }
  }

  get #tokenSeconds(): number {
    return TOKEN_SECONDS + Math.ceil(2 * this.#startSeconds);
  }

  #begin(client: Client, id: string): Subscription {
    const told = client.subscribe(operation('id status'), { id });
    this.#started.push(told);
    return told;
  }

  async #subscribe(client: Client, id: string): Promise<Subscription> {
    const startedAt = performance.now();
    const told = this.#begin(client, id);
    await this.#pods.channels(1, () => isOver(told));
    this.#startSeconds = Math.max(this.#startSeconds, (performance.now() - startedAt) / 1000);
    return told;
  }

  /** Five events and none of another order, twice on one client. */
  #receives(): Promise<string> {
    return this.#with(async (client, id) => {
      for (let round = 0; round < 2; round++) {
        const told = await this.#subscribe(client, id);
        const expected = ['1', '2', '3', '4', '5'];
        for (const status of expected) {
          await this.#pods.publish(`other than ${id}`, status);
          await this.#pods.publish(id, status);
        }
        await waitFor('five events', () => isOver(told) || told.events.length === expected.length);
        assert.deepEqual([told.errors, statusesOf(told)], [[], expected]);
        told.stop();
        this.#started.pop();
        await this.#pods.channels(0);
      }
      return YES;
    });
  }

  /** The application is told why its document is refused. */
  #refusal(): Promise<string> {
    return this.#with(async (client, id) => {
      const { events, errors } = client.subscribe(operation('id colour'), { id });
      await waitFor('the error', () => errors.length > 0, PATIENCE_MS);
      assert.deepEqual([events, errors], [[], ['Cannot query field "colour" on type "Order".']]);
      return YES;
    });
  }

  #completes(): Promise<string> {
    return this.#with(async (client, id) => {
      const told = await this.#subscribe(client, id);
      await this.#pods.publish(id, 'last');
      await this.#pods.publish(id, null);
      await waitFor('the end', () => isOver(told));
      assert.deepEqual([told.errors, statusesOf(told), told.isComplete], [[], ['last'], true]);
      return YES;
    });
  }

  #interrupt(disturb: (id: string) => Promise<void>, isByToken: boolean): Promise<Return> {
    return this.#with(async (client, id) => {
      if (isByToken) await this.#pods.writeToken(this.#tokenSeconds);
      const told = await this.#subscribe(client, id);
      await this.#pods.writeToken();
      assert.deepEqual(told.errors, []);
      const flow = new Flow(this.#pods, id);
      try {
        await waitFor('events', () => isOver(told) || told.events.length >= 3);
        assert.deepEqual(told.errors, []);
        await disturb(id);
        const first = flow.published.length + 1;
        await waitFor(
          'its return',
          () => isOver(told) || statusesOf(told).some((one) => Number(one) > first),
          RETURN_MS,
        );
        if (isOver(told)) return { how: await this.#again(client, id), isExact: false };
      } finally {
        await flow.stop();
      }
      await waitFor('the last event', () => statusesOf(told).at(-1) === flow.published.at(-1));
      const seen = statusesOf(told);
      const isExact = seen.join() === flow.published.slice(-seen.length).join();
      return { how: YES, isExact };
    });
  }

  /** The application subscribes again, if its client cannot do so for it with a new client. */
  async #again(client: Client, id: string): Promise<typeof TOLD> {
    if (await this.#isReceiving(client, id)) return TOLD;
    const second = this.#start(this.#pods.url, this.#pods.access);
    try {
      assert.ok(await this.#isReceiving(second, id), 'does not come back');
      return TOLD;
    } finally {
      await second.close();
    }
  }

  async #isReceiving(client: Client, id: string): Promise<boolean> {
    const told = this.#begin(client, id);
    const isDone = () => isOver(told) || told.events.length > 0;
    await waitFor('the subscription', isDone).catch(() => undefined);
    return told.events.length > 0;
  }
}
