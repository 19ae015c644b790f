import { FleetSocket } from '../../clients/fleet-socket.ts';
import { openMany } from '../../clients/graphql-socket.ts';
import { isSize } from '../../clients/result-size.ts';
import { userOf } from '../../fanout/auction.ts';
import { answerCalls } from '../../processes/process-call.ts';
import { monotonicMs } from '../../processes/process-usage.ts';
import { sumCounts } from '../../runner/spread.ts';
import { copyOf, warmUpOf } from '../flood/copies.ts';
import { Arrivals } from './arrivals.ts';
import { Ledger } from './ledger.ts';

/** The client process: sockets with one subscription each that count their messages. */

export interface StoryPlan {
  /** Ports of the gateways; sockets are distributed round-robin. */
  readonly ports: readonly number[];
  readonly sockets: number;
  readonly query: string;
  readonly auctionId: number;
  /** Whether each socket names a user of its own. */
  readonly isPerUser: boolean;
  /** Number of writers of the flood (see `Lanes`). */
  readonly lanes: number;
  /** Partitions of the topic. */
  readonly partitions: number;
}

export type Progress = ReturnType<typeof progress>;

export type ClientReconciliation = ReturnType<typeof reconcile>;

const NUMBER_KEY = '"version":';

let fleet: FleetSocket[] = [];
let ledger = new Ledger(0, 1);
let arrivals = new Arrivals(0, monotonicMs);
let live: Promise<unknown> | undefined;
let warmUps: WarmUpWatch;
let wrongSizes = 0;
/** Length of a result message. */
let messageBytes = 0;
let numberToEnd = 0;

const owner = {
  onMessage({ index }: FleetSocket, bytes: number, version: number | undefined): void {
    if (!isSize(bytes, messageBytes)) wrongSizes++;
    if (version === undefined) return;
    const copy = copyOf(version);
    if (copy === undefined) return warmUps.see(warmUpOf(version));
    ledger.deliver(index, copy);
    arrivals.deliver(copy);
  },
};

/** Resolves `whenAll` when a warm-up record of each partition has reached a socket. */
class WarmUpWatch {
  readonly whenAll: Promise<void>;
  readonly #partitions: number;
  readonly #seen = new Set<number>();
  #onAll: () => void = () => undefined;

  constructor(partitions: number) {
    this.#partitions = partitions;
    this.whenAll = new Promise((resolve) => (this.#onAll = resolve));
  }

  see(attempt: number): void {
    this.#seen.add(attempt % this.#partitions);
    if (this.#seen.size === this.#partitions) this.#onAll();
  }
}

/** Resolves when every socket has sent its subscription. */
async function connect({ ports, sockets, query, auctionId, isPerUser, lanes, partitions }: StoryPlan): Promise<void> {
  const operation = { query, variables: { auction_id: auctionId } };
  ledger = new Ledger(sockets, lanes);
  arrivals = new Arrivals(sockets, monotonicMs);
  warmUps = new WarmUpWatch(partitions);
  const firsts: Promise<number>[] = [];
  const open = async (i: number) => {
    const params: Record<string, string> = isPerUser ? { user: userOf(i) } : {};
    const socket = new FleetSocket(i, { port: ports[i % ports.length]!, path: '/graphql', operation, params }, owner);
    await socket.open();
    firsts.push(socket.nextMessage().then((text) => startCounting(socket, text)));
    return socket;
  };
  fleet = await openMany(sockets, open, 200);
  live = Promise.all([warmUps.whenAll, ...firsts]);
  live.catch(() => undefined);
}

interface Payload {
  readonly data?: { readonly auction_updated: { readonly version: number } };
  readonly errors?: unknown;
}

/** Checks a socket's first message. Returns its length. */
function startCounting(socket: FleetSocket, text: string): number {
  const bytes = Buffer.byteLength(text);
  const toEnd = bytes - Buffer.from(text).indexOf(NUMBER_KEY) - NUMBER_KEY.length;
  messageBytes ||= bytes;
  numberToEnd ||= toEnd;
  const { id, type, payload } = JSON.parse(text) as { id: string; type: string; payload?: Payload };
  const isResult = id === socket.id && type === 'next' && payload?.errors === undefined;
  if (!isResult || !isSize(bytes, messageBytes) || toEnd !== numberToEnd) {
    throw new Error(`socket ${socket.index} received a message that is not its result: ${text.slice(0, 300)}`);
  }
  socket.count(numberToEnd);
  warmUps.see(warmUpOf(payload!.data!.auction_updated.version));
  return bytes;
}

/** Copies that reached a socket, and those that every open socket has received; undefined when none is open. */
function progress() {
  const { user, system } = process.cpuUsage();
  const open = fleet.filter(({ closeCode }) => closeCode === undefined).map(({ index }) => index);
  return { delivered: ledger.delivered, least: ledger.least(open), cpuMs: (user + system) / 1000 };
}

/**
 * `wrongSizes`: messages whose length differs from the first message's. `closed`: number of closed sockets, by close code.
 * @param lanes number of written copies, by lane
 */
function reconcile(lanes: readonly number[]) {
  const closed = sumCounts(fleet.flatMap(({ closeCode }) => (closeCode === undefined ? [] : [{ [closeCode]: 1 }])));
  return { ...ledger.reconcile(lanes), wrongSizes, closed };
}

const methods = {
  connect,
  /** Resolves when every socket has received and checked a first message, and one message of each partition has arrived. */
  whenLive: async () => {
    await live;
    return { messageBytes };
  },
  progress,
  /** See `Arrivals`; on the monotonic clock. */
  arrivals: () => arrivals.take(),
  reconcile,
};
export type StoryClient = typeof methods;
answerCalls(methods);
