import { setTimeout as delay } from 'node:timers/promises';
import { signWith } from '../../../test/gateway/identity/identity-provider.ts';
import { jsonOf } from '../../clients/event-stream-reader.ts';
import { FleetSocket } from '../../clients/fleet-socket.ts';
import { openMany } from '../../clients/graphql-socket.ts';
import { createPublisher } from '../../clients/publisher.ts';
import type { Publisher } from '../../clients/publisher.ts';
import { isSize } from '../../clients/result-size.ts';
import { answerCalls } from '../../processes/process-call.ts';
import { cpuTime, residentBytes } from '../../processes/process-usage.ts';
import { percentile, sumCounts } from '../../runner/spread.ts';
import { auctionChannel, userOf } from '../auction.ts';
import type { IdentityField } from '../auction.ts';
import { Outstanding } from './outstanding.ts';
import type { Losses } from './outstanding.ts';

/** The client process: a fleet of sockets and the publisher of their events. */

export interface FleetPlan {
  readonly port: number;
  readonly sockets: number;
  readonly redisUrl: string;
  /** Kafka brokers for events that are records; undefined: events are published to Redis. */
  readonly kafkaBrokers?: string | undefined;
  readonly channelPrefix: string;
  /** Whether published messages start with Kafka coordinates. */
  readonly hasCoordinates?: boolean | undefined;
  readonly isStream?: boolean | undefined;
  readonly isCompressed?: boolean | undefined;
  readonly hasWindow?: boolean | undefined;
  /** undefined: the server has no GraphQL. */
  readonly query?: string | undefined;
  readonly identity?: IdentityField | undefined;
  /** Signs a token for each socket; undefined: the sockets have none. */
  readonly tokenSecret?: string | undefined;
  /** Whether all sockets watch one auction; otherwise each watches its own. */
  readonly isForAll: boolean;
}

export interface Period {
  /** Events in flight, of a closed loop. */
  readonly outstanding: number;
  /** Events a second, of an open loop instead: each for one socket, in turn. */
  readonly rate?: number | undefined;
  readonly seconds: number;
  readonly serverPid: number;
  /** Number of sockets, the last ones, that stop reading at the start of the period. */
  readonly stalled: number;
}

export interface Measurement extends Losses {
  readonly events: number;
  /** Mean length of the messages of the window. */
  readonly messageBytes: number;
  /** Messages whose length differs from the first message's; with a window of compression: that are longer. */
  readonly wrongSizes: number;
  /** Reading sockets whose connection ended. */
  readonly closed: number;
  /** From the first publish to the last delivery. */
  readonly durationMs: number;
  readonly serverCpuMs: number;
  /** The kernel's part of it. */
  readonly serverKernelMs: number;
  readonly clientCpuMs: number;
  /** Largest resident memory of the server in the window. */
  readonly peakResidentBytes: number;
  /** From publish to the last socket's delivery. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Number of stalled sockets by close code, after they read again; 0: still open. */
  readonly stalledByCloseCode: Readonly<Record<string, number>>;
}

const TENANTS = 50;
/** A server that delivers nothing for this long has lost the outstanding events. */
const SILENCE_MS = 15_000;
const QUIET_MS = 200;
/** Longest time from a subscribe message to the acknowledged Redis channel. */
const SETTLE_MS = 200;
const RETRY_MS = 2000;

let fleet: FleetSocket[] = [];
let channels: string[] = [];
let publisher: Publisher | undefined;
let plan: FleetPlan;
/** Length of the first result. Every result has it, so that an error does not count as one; with a window of compression it is the largest. */
let resultBytes = 0;
let [wrongSizes, receivedMessages, receivedBytes, lastMessageAt] = [0, 0, 0, 0];
let onDelivery: ((socket: number) => void) | undefined;
/** Duration of publishing. */
let windowMs = 0;

const owner = {
  onMessage({ index }: FleetSocket, bytes: number): void {
    receivedMessages++;
    receivedBytes += bytes;
    if (!isSize(plan.hasWindow ? Math.max(bytes, resultBytes) : bytes, resultBytes)) wrongSizes++;
    onDelivery?.(index);
  },
};

async function connect(wanted: FleetPlan): Promise<void> {
  plan = wanted;
  const auctionIds = Array.from({ length: plan.isForAll ? 1 : plan.sockets }, (_, i) => 100_000 + i);
  channels = auctionIds.map((id) => auctionChannel(plan.channelPrefix, id));
  publisher = await createPublisher({ ...plan, auctionIds });
  fleet = await openMany(plan.sockets, openSocket, 200);
  await warmUp();
}

async function openSocket(index: number): Promise<FleetSocket> {
  const { port, query, isForAll, isStream = false, isCompressed = false, hasWindow = false } = plan;
  const auction = isForAll ? 0 : index;
  const path = query ? '/graphql' : `/?channel=${encodeURIComponent(channels[auction]!)}`;
  const operation = query ? { query, variables: { auction_id: 100_000 + auction } } : undefined;
  const params = await paramsOf(index);
  const socket = new FleetSocket(index, { port, path, operation, params, isStream, isCompressed, hasWindow }, owner);
  await socket.open();
  return socket;
}

async function paramsOf(index: number): Promise<Record<string, string>> {
  const { identity, tokenSecret } = plan;
  const [user, tenant] = [userOf(index), tenantOf(index)];
  const claims = { sub: user, user, tenant, scope: 'openid profile auctions:read listings:read' };
  return {
    ...(identity === 'tenant' && { tenant }),
    ...(identity === 'viewer' && { user }),
    ...(tokenSecret !== undefined && { token: await signWith(Buffer.from(tokenSecret), claims, { alg: 'HS256' }) }),
  };
}

function tenantOf(index: number): string {
  return `tenant-${String(index % TENANTS).padStart(5, '0')}`;
}

/** Publishes until every subscription is live, which no protocol reports, and checks each socket's first message. */
async function warmUp(): Promise<void> {
  const startedAt = performance.now();
  const firsts = Promise.all(fleet.map(async (socket) => check(socket, await socket.nextMessage())));
  const isLive = firsts.then(
    () => true,
    () => true,
  );
  await delay(SETTLE_MS);
  do for (let i = 0; i < channels.length; i++) publisher!.publish(i);
  while (!(await Promise.race([isLive, delay(RETRY_MS, false)])));
  await firsts;
  for (const socket of fleet) socket.count();
  onDelivery = () => (lastMessageAt = performance.now());
  lastMessageAt = performance.now();
  // Events published before a subscription was live may still arrive.
  const quietMs = Math.max(QUIET_MS, performance.now() - startedAt);
  while (performance.now() - lastMessageAt < quietMs) await delay(QUIET_MS / 4);
}

function check(socket: FleetSocket, text: string): void {
  const { query, identity, isStream } = plan;
  resultBytes ||= socket.bytes;
  const message = (isStream ? { id: socket.id, payload: JSON.parse(jsonOf(text)) as unknown } : JSON.parse(text)) as {
    id: string;
    payload: { errors?: unknown; data?: { auction_updated?: Record<string, unknown> } };
  };
  const auction = message.payload.data?.auction_updated;
  const isRight =
    isSize(socket.bytes, resultBytes) &&
    (!query || (message.id === socket.id && auction !== undefined && message.payload.errors === undefined)) &&
    (identity !== 'tenant' || auction?.['tenant'] === tenantOf(socket.index)) &&
    (identity !== 'viewer' || auction?.['viewer'] === userOf(socket.index));
  if (!isRight)
    throw new Error(`socket ${socket.index} received a message that is not its result: ${text.slice(0, 300)}`);
}

/**
 * Keeps `outstanding` events in flight for about `seconds`, with the predicted arrival of the last ones; or publishes at `rate` for
 * `seconds`.
 */
async function measure({ outstanding, rate, seconds, serverPid, stalled }: Period): Promise<Measurement> {
  const { isForAll, sockets } = plan;
  const readers = sockets - stalled;
  for (const socket of fleet.slice(readers)) socket.stall();
  const accounts = new Outstanding(readers, outstanding, isForAll);
  wrongSizes = receivedMessages = receivedBytes = 0;
  windowMs = seconds * 1000;
  const clock = () => performance.now();
  const serverCpu = cpuTime(serverPid);
  const clientCpu = process.cpuUsage();
  const startedAt = clock();
  const publishOne = () => {
    const auction = isForAll ? undefined : accounts.published % readers;
    accounts.publish(clock(), auction);
    publisher!.publish(auction ?? 0);
  };
  onDelivery = (socket) => {
    if (socket >= readers) return;
    if (!accounts.deliver(socket, clock)) return;
    lastMessageAt = clock();
    if (rate !== undefined) return;
    const elapsedMs = lastMessageAt - startedAt;
    const drainMs = (elapsedMs / accounts.latenciesMs.length) * outstanding;
    if (elapsedMs + drainMs < windowMs) publishOne();
  };
  if (rate !== undefined) await publishAt(rate, publishOne);
  else for (let i = 0; i < outstanding; i++) publishOne();
  lastMessageAt = clock();
  const peakResidentBytes = await arrival(accounts, serverPid);
  const endedAt = lastMessageAt;
  const used = process.cpuUsage(clientCpu);
  // The server's work after its last write counts, too. A message that arrives now is a duplicate.
  await delay(QUIET_MS / 2);
  const { userMs, systemMs } = cpuTime(serverPid);
  const serverKernelMs = systemMs - serverCpu.systemMs;
  onDelivery = undefined;
  const stalledByCloseCode = await wakeStalled(fleet.slice(readers));
  return {
    ...accounts.losses(),
    events: accounts.published,
    messageBytes: receivedBytes / receivedMessages,
    wrongSizes,
    closed: fleet.slice(0, readers).filter(({ closeCode }) => closeCode !== undefined).length,
    durationMs: endedAt - startedAt,
    serverCpuMs: userMs - serverCpu.userMs + serverKernelMs,
    serverKernelMs,
    clientCpuMs: (used.user + used.system) / 1000,
    peakResidentBytes,
    p50Ms: percentile(accounts.latenciesMs, 0.5),
    p99Ms: percentile(accounts.latenciesMs, 0.99),
    stalledByCloseCode,
  };
}

/** Publishes this many events a second for the window, in each millisecond those that are due. */
async function publishAt(rate: number, publishOne: () => void): Promise<void> {
  const startedAt = performance.now();
  for (let published = 0; ; await delay(1)) {
    const elapsedMs = Math.min(performance.now() - startedAt, windowMs);
    for (const due = Math.floor((elapsedMs * rate) / 1000); published < due; published++) publishOne();
    if (elapsedMs >= windowMs) return;
  }
}

/** Waits until all events have arrived, or nothing arrives any more. Returns the server's largest resident memory meanwhile. */
async function arrival(accounts: Outstanding, serverPid: number): Promise<number> {
  let peak = residentBytes(serverPid);
  let delivered = 0;
  let progressAt = performance.now();
  while (accounts.outstanding > 0 && performance.now() - progressAt < SILENCE_MS) {
    await delay(20);
    const now = accounts.losses().delivered;
    if (now > delivered) progressAt = performance.now();
    delivered = now;
    peak = Math.max(peak, residentBytes(serverPid));
  }
  return peak;
}

/** Lets the stalled sockets read on, and returns how they ended. */
async function wakeStalled(sockets: readonly FleetSocket[]): Promise<Record<string, number>> {
  for (const socket of sockets) socket.resume();
  const deadline = performance.now() + 5000;
  while (sockets.some(({ closeCode }) => closeCode === undefined) && performance.now() < deadline) await delay(50);
  return sumCounts(sockets.map(({ closeCode = 0 }) => ({ [closeCode]: 1 })));
}

const methods = { connect, measure, finish: () => void (windowMs = 0) };
export type FanoutClient = typeof methods;
answerCalls(methods);
