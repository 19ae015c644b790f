import { setTimeout as delay } from 'node:timers/promises';
import { signWith } from '../../../test/gateway/identity/identity-provider.ts';
import { answerCalls } from '../../processes/process-call.ts';
import { cpuTime, residentBytes } from '../../processes/process-usage.ts';
import { auctionChannel, userOf } from '../auction.ts';
import type { FleetPlan, Measurement, Period } from './client-calls.ts';
import { FleetSocket } from './fleet-socket.ts';
import { Outstanding } from './outstanding.ts';
import { jsonOf } from './event-stream-reader.ts';
import { createPublisher } from './publisher.ts';
import type { Publisher } from './publisher.ts';
import { isSize } from './result-size.ts';

/** The client process: a fleet of sockets and the publisher of their events. The runner calls it over IPC. */

/** A server that delivers nothing for this long has lost the outstanding events. */
const SILENCE_MS = 15_000;
const QUIET_MS = 200;
const CONNECT_BATCH = 200;
/** Longest time from a subscribe message to the acknowledged Redis channel. */
const SETTLE_MS = 200;
const RETRY_MS = 2000;

const fleet: FleetSocket[] = [];
let channels: string[] = [];
let publisher: Publisher | undefined;
let plan: FleetPlan | undefined;
/** Length of the first result. Every result has it, so that an error does not count as one; with a window of compression it is the largest. */
let resultBytes = 0;
let wrongSizes = 0;
let receivedMessages = 0;
let receivedBytes = 0;
let lastMessageAt = 0;
let onDelivery: ((socket: number) => void) | undefined;
/** Duration of publishing. */
let windowMs = 0;

const owner = {
  onMessage({ index }: FleetSocket, bytes: number): void {
    receivedMessages++;
    receivedBytes += bytes;
    if (!isSize(plan!.hasWindow ? Math.max(bytes, resultBytes) : bytes, resultBytes)) wrongSizes++;
    onDelivery?.(index);
  },
};

async function connectFleet(wanted: FleetPlan): Promise<void> {
  plan = wanted;
  const auctionIds = Array.from({ length: plan.isForAll ? 1 : plan.sockets }, (_, i) => 100_000 + i);
  channels = auctionIds.map((id) => auctionChannel(wanted.channelPrefix, id));
  publisher = await createPublisher({ ...plan, auctionIds });
  while (fleet.length < plan.sockets) {
    const from = fleet.length;
    const count = Math.min(CONNECT_BATCH, plan.sockets - from);
    const params = await Promise.all(Array.from({ length: count }, (_, i) => paramsOf(from + i, wanted)));
    const batch = params.map((own, i) => openSocket(from + i, own));
    fleet.push(...batch.map(({ socket }) => socket));
    await Promise.all(batch.map(({ opened }) => opened));
  }
  await warmUp(plan);
}

async function paramsOf(index: number, { identity, tenants, tokenSecret }: FleetPlan): Promise<Record<string, string>> {
  const user = userOf(index);
  const tenant = `tenant-${String(index % tenants).padStart(5, '0')}`;
  const claims = { sub: user, user, tenant, scope: 'openid profile auctions:read listings:read' };
  return {
    ...(identity === 'tenant' && { tenant }),
    ...(identity === 'viewer' && { user }),
    ...(tokenSecret !== undefined && { token: await signWith(Buffer.from(tokenSecret), claims, { alg: 'HS256' }) }),
  };
}

function openSocket(
  index: number,
  params: Record<string, string>,
): { readonly socket: FleetSocket; readonly opened: Promise<void> } {
  const { port, query, isForAll, isStream, isCompressed, hasWindow = false } = plan!;
  const auction = isForAll ? 0 : index;
  const path = query ? '/graphql' : `/?channel=${encodeURIComponent(channels[auction]!)}`;
  const operation = query ? { query, variables: { auction_id: 100_000 + auction } } : undefined;
  const socket = new FleetSocket(index, { port, path, operation, params, isStream, isCompressed, hasWindow }, owner);
  return { socket, opened: socket.open() };
}

/** Publishes until every subscription is live, which no protocol reports, and checks each socket's first message. */
async function warmUp({ sockets, isForAll }: FleetPlan): Promise<void> {
  const startedAt = performance.now();
  const firsts = Promise.all(fleet.map(async (socket) => check(socket, await socket.nextMessage())));
  const isLive = firsts.then(
    () => true,
    () => true,
  );
  await delay(SETTLE_MS);
  do for (let i = 0; i < (isForAll ? 1 : sockets); i++) publisher!.publish(i);
  while (!(await Promise.race([isLive, delay(RETRY_MS, false)])));
  await firsts;
  for (const socket of fleet) socket.count();
  onDelivery = () => (lastMessageAt = performance.now());
  lastMessageAt = performance.now();
  // Events published before a subscription was live may still arrive.
  await quiet(Math.max(QUIET_MS, performance.now() - startedAt));
}

function check(socket: FleetSocket, text: string): void {
  const { query, identity, tenants, isStream } = plan!;
  resultBytes ||= socket.bytes;
  const message = (isStream ? { id: socket.id, payload: JSON.parse(jsonOf(text)) as unknown } : JSON.parse(text)) as {
    id: string;
    payload: { errors?: unknown; data?: { auction_updated?: Record<string, unknown> } };
  };
  const auction = message.payload.data?.auction_updated;
  const isRight =
    isSize(socket.bytes, resultBytes) &&
    (!query || (message.id === socket.id && auction !== undefined && message.payload.errors === undefined)) &&
    (identity !== 'tenant' || auction?.['tenant'] === `tenant-${String(socket.index % tenants).padStart(5, '0')}`) &&
    (identity !== 'viewer' || auction?.['viewer'] === userOf(socket.index));
  if (!isRight)
    throw new Error(`socket ${socket.index} received a message that is not its result: ${text.slice(0, 300)}`);
}

async function quiet(durationMs: number): Promise<void> {
  while (performance.now() - lastMessageAt < durationMs) await delay(QUIET_MS / 4);
}

/**
 * Keeps `outstanding` events in flight for about `seconds`, with the predicted arrival of the last ones; or publishes at `rate` for
 * `seconds`.
 */
async function measure({ outstanding, rate, seconds, serverPid, stalled }: Period): Promise<Measurement> {
  const { isForAll, sockets } = plan!;
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
  const latenciesMs = accounts.latenciesMs.toSorted((a, b) => a - b);
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
    p50Ms: latenciesMs[Math.ceil(latenciesMs.length * 0.5) - 1] ?? NaN,
    p99Ms: latenciesMs[Math.ceil(latenciesMs.length * 0.99) - 1] ?? NaN,
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
  const byCode: Record<string, number> = {};
  for (const { closeCode = 0 } of sockets) byCode[closeCode] = (byCode[closeCode] ?? 0) + 1;
  return byCode;
}

answerCalls({ connect: connectFleet, measure, finish: () => void (windowMs = 0) });
