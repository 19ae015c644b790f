import { setTimeout as delay } from 'node:timers/promises';
import { createPublisher } from '../fanout/client/publisher.ts';
import type { Publisher } from '../fanout/client/publisher.ts';
import { answerCalls } from '../processes/process-call.ts';
import type { ClientKind, FleetClient } from './fleet-client.ts';
import { RawClient } from './raw-client.ts';
import type { Delays } from './reconnect-delays.ts';
import { StockClient } from './stock-client.ts';

/** The process of all clients of a public scenario, which also publishes: both ends of a latency are its own clock. */

export interface FleetPlan {
  readonly port: number;
  readonly kafkaBrokers: string;
  readonly redisUrl: string;
  readonly clients: number;
  readonly kind: ClientKind;
  readonly delays: Delays;
  /** Least time from a disconnect to the next attempt. */
  readonly minOfflineMs: number;
}

export interface FleetProgress {
  readonly connected: number;
  readonly disconnects: number;
  readonly events: number;
  readonly deliveries: number;
}

export interface FleetReport {
  readonly events: number;
  readonly expected: number;
  readonly delivered: number;
  readonly duplicates: number;
  readonly disconnects: number;
  /** Disconnected clients, from the first disconnect until half of them, 95 % of them and all were back. */
  readonly halfBackMs: number;
  readonly mostBackMs: number;
  readonly allBackMs: number;
  readonly disconnected: number;
  readonly neverBack: number;
  /** Longest time that a client was away. */
  readonly longestAwayMs: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly clientCpuMs: number;
}

/** Version of the publisher's first event. */
const FIRST_VERSION = 1_000_000;
const QUERY = 'subscription ($auction_id: Int!) { auction_updated(auction_id: $auction_id) { version } }';
const CONNECT_BATCH = 200;
const CONNECT_TIMEOUT_MS = 60_000;
const WARM_UP_MS = 500;
/** Source addresses: one has 28,000 ports, and a port of a closed connection stays taken for a minute. */
const ADDRESSES = 8;

const clients: FleetClient[] = [];
let publisher: Publisher | undefined;
let port = 0;
let timers: NodeJS.Timeout[] = [];
const publishedAt: number[] = [];
/** First event of the period. */
let from = 0;
/** By client and event of the period: deliveries. */
let received: Uint8Array[] = [];
let latencies: number[] = [];
let [deliveries, disconnects, firstDisconnectAt] = [0, 0, 0];
/** By client: when it was disconnected in the period; 0: it is connected. */
let awaySince = new Float64Array();
/** By client: when it was back for good. */
let backAt = new Float64Array();
let longestAwayMs = 0;
let faults: Record<string, number> = {};
let cpu = process.cpuUsage();

function createOne(index: number, plan: FleetPlan): FleetClient {
  const { delays, minOfflineMs } = plan;
  return new (plan.kind === 'stock' ? StockClient : RawClient)({
    delays,
    minOfflineMs,
    port: () => port,
    localAddress: `127.0.0.${2 + (index % ADDRESSES)}`,
    query: QUERY,
    onVersion: (version) => onEvent(index, version - FIRST_VERSION),
    onConnected: () => {
      const now = performance.now();
      if (awaySince[index]! > 0) longestAwayMs = Math.max(longestAwayMs, now - awaySince[index]!);
      if (awaySince[index]! > 0) backAt[index] = now;
      awaySince[index] = 0;
    },
    onClosed: () => {
      disconnects++;
      firstDisconnectAt ||= performance.now();
      awaySince[index] ||= performance.now();
      backAt[index] = 0;
    },
    onFault: (fault) => void (faults[fault] = (faults[fault] ?? 0) + 1),
  });
}

function onEvent(index: number, event: number): void {
  if (event < from) return;
  deliveries++;
  latencies.push(performance.now() - publishedAt[event]!);
  const counts = received[index]!;
  if (event - from < counts.length) counts[event - from]!++;
}

/** Resolves when each client has received an event. @throws Error after a minute. */
async function connect(plan: FleetPlan): Promise<void> {
  port = plan.port;
  publisher = await createPublisher({ ...plan, channelPrefix: '', hasCoordinates: true, auctionIds: [1] });
  const deadline = performance.now() + CONNECT_TIMEOUT_MS;
  const check = (what: string) => {
    if (performance.now() > deadline) throw new Error(`${what} after ${CONNECT_TIMEOUT_MS} ms`);
  };
  awaySince = new Float64Array(plan.clients);
  backAt = new Float64Array(plan.clients);
  received = Array.from({ length: plan.clients }, () => new Uint8Array(1000));
  while (clients.length < plan.clients) {
    for (let i = 0; i < CONNECT_BATCH && clients.length < plan.clients; i++)
      clients.push(createOne(clients.length, plan));
    while (!clients.every(({ isOpen }) => isOpen)) {
      check(`${clients.filter(({ isOpen }) => isOpen).length} of ${plan.clients} clients were connected`);
      await delay(10);
    }
  }
  while (received.some((counts) => counts.every((count) => count === 0))) {
    check('not every client had received an event');
    publish();
    await delay(WARM_UP_MS);
  }
  // Events of the warm-up may still be under way to some.
  await delay(2 * WARM_UP_MS);
}

function publish(): void {
  publishedAt.push(performance.now());
  publisher!.publish(0);
}

/** Starts a period, in which `events` are published, one each `intervalMs`, and connections are cut about every `cutEveryMs`; 0: never. */
function begin({ events, intervalMs, cutEveryMs }: { events: number; intervalMs: number; cutEveryMs: number }): void {
  from = publishedAt.length;
  received = clients.map(() => new Uint8Array(events));
  [latencies, deliveries, disconnects, firstDisconnectAt, longestAwayMs, faults] = [[], 0, 0, 0, 0, {}];
  awaySince.fill(0);
  backAt.fill(0);
  cpu = process.cpuUsage();
  const publishing = setInterval(() => {
    if (publishedAt.length - from >= events) return clearInterval(publishing);
    publish();
  }, intervalMs);
  timers.push(publishing);
  if (cutEveryMs === 0) return;
  for (const client of clients) {
    const next = (waitMs: number) => {
      timers.push(
        setTimeout(() => {
          client.cut();
          next(cutEveryMs);
        }, waitMs),
      );
    };
    next(Math.random() * cutEveryMs);
  }
}

/** Cuts no more connections and publishes no more. */
function calm(): void {
  for (const timer of timers) clearTimeout(timer);
  timers = [];
}

/** New connections go to this port. */
function target(to: number): void {
  port = to;
}

function progress(): FleetProgress {
  const connected = clients.filter(({ isOpen }) => isOpen).length;
  return { connected, disconnects, events: publishedAt.length - from, deliveries };
}

function report(): FleetReport {
  const events = publishedAt.length - from;
  const counts = received.flatMap((all) => Array.from(all.subarray(0, events)));
  const sorted = Float64Array.from(latencies).sort();
  const percentile = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
  const back = backAt.filter((at) => at > 0).sort();
  const neverBack = awaySince.filter((at) => at > 0).length;
  const backMs = (share: number) =>
    back.length === 0 ? 0 : back[Math.min(back.length - 1, Math.floor(back.length * share))]! - firstDisconnectAt;
  const { user, system } = process.cpuUsage(cpu);
  return {
    ...{ events, disconnects, neverBack, longestAwayMs, faults },
    expected: events * clients.length,
    delivered: counts.reduce((sum, count) => sum + Number(count > 0), 0),
    duplicates: counts.reduce((sum, count) => sum + Math.max(0, count - 1), 0),
    disconnected: back.length + neverBack,
    halfBackMs: backMs(0.5),
    mostBackMs: backMs(0.95),
    allBackMs: backMs(1),
    p50Ms: percentile(0.5),
    p95Ms: percentile(0.95),
    p99Ms: percentile(0.99),
    maxMs: percentile(1),
    clientCpuMs: (user + system) / 1000,
  };
}

answerCalls({ connect, begin, calm, target, progress, report });
