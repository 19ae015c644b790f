import { FleetSocket } from '../fanout/fleet-socket.ts';
import { isSize } from '../fanout/result-size.ts';
import { answerCalls } from '../process-call.ts';
import type { Accounts, Progress, StoryPlan } from './client-calls.ts';
import { copyOf } from './copies.ts';
import { Ledger } from './ledger.ts';

/** The client's process: sockets with one subscription each, which count what comes. Driven by the runner. */

const CONNECT_BATCH = 200;
const NUMBER_KEY = '"version":';

let fleet: FleetSocket[] = [];
let ledger = new Ledger(0);
let live: Promise<number[]> | undefined;
let wrongSizes = 0;
/** What a result has. */
let messageBytes = 0;
let numberToEnd = 0;

const owner = {
  onMessage({ index }: FleetSocket, bytes: number, version: number | undefined): void {
    if (!isSize(bytes, messageBytes)) wrongSizes++;
    const copy = version === undefined ? undefined : copyOf(version);
    if (copy !== undefined) ledger.deliver(index, copy);
  },
};

async function connectFleet({ port, sockets, query, auctionId }: StoryPlan): Promise<void> {
  const operation = { query, variables: { auction_id: auctionId } };
  const plan = { port, path: '/graphql', operation, params: {} };
  fleet = [];
  ledger = new Ledger(sockets);
  const firsts: Promise<number>[] = [];
  while (fleet.length < sockets) {
    const from = fleet.length;
    const size = Math.min(CONNECT_BATCH, sockets - from);
    const batch = Array.from({ length: size }, (_, i) => new FleetSocket(from + i, plan, owner));
    fleet.push(...batch);
    await Promise.all(batch.map((socket) => socket.open()));
    firsts.push(...batch.map((socket) => socket.nextMessage().then((text) => startCounting(socket, text))));
  }
  live = Promise.all(firsts);
  live.catch(() => undefined);
}

/** Holds a first message against what it must be. Returns its length. */
function startCounting(socket: FleetSocket, text: string): number {
  const bytes = Buffer.byteLength(text);
  const toEnd = bytes - Buffer.from(text).indexOf(NUMBER_KEY) - NUMBER_KEY.length;
  messageBytes ||= bytes;
  numberToEnd ||= toEnd;
  const { id, type, payload } = JSON.parse(text) as { id: string; type: string; payload?: { errors?: unknown } };
  const isResult = id === socket.id && type === 'next' && payload?.errors === undefined;
  if (!isResult || !isSize(bytes, messageBytes) || toEnd !== numberToEnd) {
    throw new Error(`socket ${socket.index} got what is not its result: ${text.slice(0, 300)}`);
  }
  socket.count(numberToEnd);
  return bytes;
}

function progress(): Progress {
  const { user, system } = process.cpuUsage();
  const open = fleet.filter(({ closeCode }) => closeCode === undefined).map(({ index }) => index);
  return { delivered: ledger.delivered, least: ledger.least(open), cpuMs: (user + system) / 1000 };
}

function accounts(produced: number): Accounts {
  const closed: Record<string, number> = {};
  for (const { closeCode } of fleet) if (closeCode !== undefined) closed[closeCode] = (closed[closeCode] ?? 0) + 1;
  return { ...ledger.imbalance(produced), wrongSizes, closed };
}

answerCalls({
  connect: connectFleet,
  whenLive: async () => {
    if (!live) throw new Error('not connected');
    await live;
    return { messageBytes };
  },
  progress,
  accounts,
});
// Nothing else keeps it before the sockets are there.
process.channel?.ref();
