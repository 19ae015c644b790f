import { userOf } from '../../fanout/auction.ts';
import { FleetSocket } from '../../fanout/client/fleet-socket.ts';
import { isSize } from '../../fanout/client/result-size.ts';
import { monotonicMs } from '../../monotonic.ts';
import { answerCalls } from '../../processes/process-call.ts';
import { Arrivals } from './arrivals.ts';
import type { ClientReconciliation, Progress, StoryPlan } from './client-calls.ts';
import { copyOf, warmUpOf } from '../flood/copies.ts';
import { Ledger } from './ledger.ts';

/** The client process: sockets with one subscription each that count their messages. The runner calls it over IPC. */

const CONNECT_BATCH = 200;
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

async function connectFleet(plan: StoryPlan): Promise<void> {
  const { ports, sockets, query, auctionId, isPerUser, lanes, partitions } = plan;
  const operation = { query, variables: { auction_id: auctionId } };
  const paramsOf = (index: number): Record<string, string> => (isPerUser ? { user: userOf(index) } : {});
  const planOf = (index: number) => {
    return { port: ports[index % ports.length]!, path: '/graphql', operation, params: paramsOf(index) };
  };
  fleet = [];
  ledger = new Ledger(sockets, lanes);
  arrivals = new Arrivals(sockets, monotonicMs);
  warmUps = new WarmUpWatch(partitions);
  const firsts: Promise<number>[] = [];
  while (fleet.length < sockets) {
    const from = fleet.length;
    const size = Math.min(CONNECT_BATCH, sockets - from);
    const batch = Array.from({ length: size }, (_, i) => new FleetSocket(from + i, planOf(from + i), owner));
    fleet.push(...batch);
    await Promise.all(batch.map((socket) => socket.open()));
    firsts.push(...batch.map((socket) => socket.nextMessage().then((text) => startCounting(socket, text))));
  }
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

function progress(): Progress {
  const { user, system } = process.cpuUsage();
  const open = fleet.filter(({ closeCode }) => closeCode === undefined).map(({ index }) => index);
  return { delivered: ledger.delivered, least: ledger.least(open), cpuMs: (user + system) / 1000 };
}

function reconcile(lanes: readonly number[]): ClientReconciliation {
  const closed: Record<string, number> = {};
  for (const { closeCode } of fleet) if (closeCode !== undefined) closed[closeCode] = (closed[closeCode] ?? 0) + 1;
  return { ...ledger.reconcile(lanes), wrongSizes, closed };
}

answerCalls({
  connect: connectFleet,
  whenLive: async () => {
    if (!live) throw new Error('not connected');
    await live;
    return { messageBytes };
  },
  progress,
  arrivals: () => arrivals.take(),
  reconcile,
});
// Keeps the process alive until the sockets exist.
process.channel?.ref();
