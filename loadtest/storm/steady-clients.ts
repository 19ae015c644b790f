import { setTimeout as delay } from 'node:timers/promises';
import { userOf } from '../fanout/auction.ts';
import { FleetSocket } from '../fanout/client/fleet-socket.ts';
import { createPublisher } from '../fanout/client/publisher.ts';
import type { Publisher } from '../fanout/client/publisher.ts';
import { answerCalls } from '../processes/process-call.ts';

/** The process of the clients that are connected before the storm. It publishes their flood. The storm scenario calls it. */

export interface SteadyPlan {
  readonly port: number;
  readonly path: string;
  /** undefined: raw ws. */
  readonly query: string | undefined;
  readonly redisUrl: string;
  readonly channelPrefix: string;
  readonly auctionId: number;
  readonly hasCoordinates: boolean;
  readonly sockets: number;
}

export interface SteadyReport {
  readonly deliveries: number;
  readonly events: number;
  /** Longest time in which one client received nothing. */
  readonly longestPauseMs: number;
  /** Longest delay of a 1 ms timer of this process: it may be a part of that pause. */
  readonly clientLagMs: number;
  readonly clientCpuMs: number;
  readonly closed: number;
}

const CONNECT_BATCH = 100;
/** Time from a subscribe message to the acknowledged Redis channel, at most. */
const SETTLE_MS = 500;
const RETRY_MS = 1000;

const fleet: FleetSocket[] = [];
let lastAt: Float64Array = new Float64Array();
let publisher: Publisher | undefined;
let rate = 0;
let startedAt = 0;
let published = 0;
let [deliveries, events, longestPauseMs, clientLagMs, lastTickAt] = [0, 0, 0, 0, 0];
let cpu = process.cpuUsage();

const owner = {
  onMessage({ index }: FleetSocket): void {
    const now = performance.now();
    deliveries++;
    longestPauseMs = Math.max(longestPauseMs, now - lastAt[index]!);
    lastAt[index] = now;
  },
};

async function connect(plan: SteadyPlan): Promise<void> {
  publisher = await createPublisher({ ...plan, kafkaBrokers: undefined, auctionIds: [plan.auctionId] });
  lastAt = new Float64Array(plan.sockets);
  const operation = plan.query ? { query: plan.query, variables: { auction_id: plan.auctionId } } : undefined;
  const server = { port: plan.port, path: plan.path };
  while (fleet.length < plan.sockets) {
    const from = fleet.length;
    const batch = Array.from(
      { length: Math.min(CONNECT_BATCH, plan.sockets - from) },
      (_, i) => new FleetSocket(from + i, { ...server, operation, params: { user: userOf(from + i) } }, owner),
    );
    fleet.push(...batch);
    await Promise.all(batch.map((socket) => socket.open()));
  }
  const firsts = Promise.all(fleet.map((socket) => socket.nextMessage())).then(() => true);
  await delay(SETTLE_MS);
  do publisher.publish(0);
  while (!(await Promise.race([firsts, delay(RETRY_MS, false)])));
  for (const socket of fleet) socket.count();
}

/** Publishes `eventsPerSecond` from now on, whether or not they are delivered. */
function flood(eventsPerSecond: number): void {
  [rate, startedAt, published] = [eventsPerSecond, performance.now(), 0];
}

function tick(): void {
  const now = performance.now();
  clientLagMs = Math.max(clientLagMs, now - lastTickAt);
  lastTickAt = now;
  for (const due = ((now - startedAt) / 1000) * rate; published < due; published++) {
    events++;
    publisher!.publish(0);
  }
}

/** Begins a new period. */
function report(): SteadyReport {
  const now = performance.now();
  // A pause that has not ended counts, too.
  for (const at of lastAt) longestPauseMs = Math.max(longestPauseMs, now - at);
  const { user, system } = process.cpuUsage(cpu);
  const closed = fleet.filter(({ closeCode }) => closeCode !== undefined).length;
  const figures = { deliveries, events, longestPauseMs, clientLagMs, clientCpuMs: (user + system) / 1000, closed };
  [deliveries, events, longestPauseMs, clientLagMs, cpu] = [0, 0, 0, 0, process.cpuUsage()];
  lastAt.fill(now);
  return figures;
}

setInterval(tick, 1).unref();
answerCalls({ connect, flood, report });
