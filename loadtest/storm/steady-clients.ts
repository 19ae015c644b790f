import { setTimeout as delay } from 'node:timers/promises';
import { FleetSocket } from '../clients/fleet-socket.ts';
import { openMany } from '../clients/graphql-socket.ts';
import { createPublisher } from '../clients/publisher.ts';
import type { Publisher } from '../clients/publisher.ts';
import { userOf } from '../fanout/auction.ts';
import { answerCalls } from '../processes/process-call.ts';

/** The process of the clients that are connected before the storm. It publishes their flood. */

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

/** Time from a subscribe message to the acknowledged Redis channel, at most. */
const SETTLE_MS = 500;
const RETRY_MS = 1000;

let fleet: FleetSocket[] = [];
let lastAt: Float64Array = new Float64Array();
let publisher: Publisher | undefined;
let [rate, startedAt, published] = [0, 0, 0];
/**
 * `longestPauseMs`: longest time in which one client received nothing. `clientLagMs`: longest delay of a 1 ms timer of this process, which
 * may be a part of that pause.
 */
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

async function connect({ port, path, query, auctionId, sockets, ...where }: SteadyPlan): Promise<void> {
  publisher = await createPublisher({ ...where, auctionIds: [auctionId] });
  lastAt = new Float64Array(sockets);
  const operation = query ? { query, variables: { auction_id: auctionId } } : undefined;
  fleet = await openMany(sockets, async (i) => {
    const socket = new FleetSocket(i, { port, path, operation, params: { user: userOf(i) } }, owner);
    await socket.open();
    return socket;
  });
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
function report() {
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
const methods = { connect, flood, report };
export type SteadyClients = typeof methods;
answerCalls(methods);
