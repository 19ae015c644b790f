import { setTimeout as delay } from 'node:timers/promises';
import { auctionChannel, auctionDocument } from '../fanout/auction.ts';
import { graphVariant, withBinding } from '../fanout/graph-variant.ts';
import { startRemote } from '../processes/process-call.ts';
import type { Remote } from '../processes/process-call.ts';
import { cpuMs, cpuWaitMs } from '../processes/process-usage.ts';
import { startServer } from '../processes/server-process.ts';
import type { ServerProcess } from '../processes/server-process.ts';
import { startArguments } from '../processes/start-arguments.ts';
import { AuctionHistory } from '../resume/history.ts';
import { Scope } from '../runner/scope.ts';
import type { Arrival, ArrivingClients } from './arriving-clients.ts';
import type { SteadyClients, SteadyPlan } from './steady-clients.ts';

/** `fresh` clients subscribe; `drained` clients come from another pod, resume with a cursor and receive what they missed. */
export type StormKind = 'fresh' | 'drained';

export interface StormSubject {
  readonly name: string;
  readonly title: string;
  /** Absolute. */
  readonly script: string;
  readonly isCrier: boolean;
}

export interface StormSettings {
  readonly sockets: number;
  readonly steady: number;
  /** Channels of the arriving clients. */
  readonly auctions: number;
  /** Events that a drained client has missed. */
  readonly missed: number;
  /** Share of its core that the flood takes of the pod before the storm. */
  readonly cpuPercent: number;
}

/** Figures of one storm. */
export type StormFigures = Awaited<ReturnType<typeof stormTrial>>;

const PREFIX = 'storm:';
const STEADY_AUCTION = 1;
const FIRST_AUCTION = 1000;
/** Most steps until the flood takes its share. */
const MAX_STEPS = 15;
/** Time in ms for the server to settle at a new rate of the flood. */
const SETTLE_MS = 500;
/** Time in ms over which the share is measured. Within one second it moves by several percent points at the same rate. */
const SHARE_MS = 3000;
const STORM_TIMEOUT_MS = 60_000;
const EVENTS_TIMEOUT_MS = 20_000;
/** Distance from the share that the flood must take, in percent points. */
const TOLERANCE = 3;

/** @param knownRate events a second of the flood; default: as many as take `cpuPercent` */
export async function stormTrial(
  subject: StormSubject,
  kind: StormKind,
  settings: StormSettings,
  say: (line: string) => void,
  outer: Scope,
  knownRate?: number,
) {
  const { sockets, steady, missed } = settings;
  const note = (line: string) => say(`${subject.name}, ${kind}: ${line}`);
  const scope = new Scope();
  outer.after(() => scope.close());
  const { url: redisUrl } = await scope.redis();
  const graph = await graphVariant(kind === 'drained' ? withBinding('history: {}') : {}, scope);
  const where = { REDIS_URL: redisUrl, CHANNEL_PREFIX: PREFIX };
  const environment = { ROLE: 'gateway', GRAPH: graph, ...where };
  const nodeArguments = subject.isCrier ? startArguments() : [];
  const server = await startServer({ script: subject.script, environment, nodeArguments }, scope);
  const history = new AuctionHistory(redisUrl, PREFIX);
  await history.open();
  scope.after(() => history.close());
  const auctions = Array.from({ length: settings.auctions }, (_, i) => FIRST_AUCTION + i);
  const arrivals: Arrival[] = [];
  for (const auction of auctions) arrivals.push(await arrivalOf(auction, subject, kind, history, missed));
  const steadyClients = startRemote<SteadyClients>('storm/steady-clients.js', scope);
  note(`${steady} steady clients connect`);
  await steadyClients.connect(steadyPlanOf(subject, server.port, redisUrl, steady));
  const rate = knownRate ?? (await calibrate(server, steadyClients, settings.cpuPercent, note));
  await steadyClients.flood(rate);
  await steadyClients.report();
  const cpuBefore = cpuMs(server.pid);
  await delay(SHARE_MS);
  const before = await steadyClients.report();
  const cpuBeforePercent = ((cpuMs(server.pid) - cpuBefore) / SHARE_MS) * 100;

  const arriving = startRemote<ArrivingClients>('storm/arriving-clients.js', scope);
  note(`${sockets} clients arrive`);
  await server.reset();
  await steadyClients.report();
  const [startedAt, cpuAt] = [performance.now(), cpuMs(server.pid)];
  const storm = await arriving.arrive({ port: server.port, sockets, arrivals, timeoutMs: STORM_TIMEOUT_MS });
  const during = await steadyClients.report();
  const elapsedMs = performance.now() - startedAt;
  const { lagP99Ms } = await server.report();
  const cpuPercent = ((cpuMs(server.pid) - cpuAt) / elapsedMs) * 100;
  await steadyClients.flood(0);
  note(`${storm.subscribed} subscribed after ${(storm.allMs / 1000).toFixed(1)} s; one event for each`);
  for (const auction of auctions) await history.publish(auction, 1);
  const count = 1 + (kind === 'drained' ? missed : 0);
  const wrongEvents = await arriving.events({ count, timeoutMs: EVENTS_TIMEOUT_MS });
  await scope.close();
  return {
    ...{ subject: subject.name, title: subject.title, kind, sockets, floodEventsPerSecond: rate, cpuBeforePercent },
    pauseBeforeMs: before.longestPauseMs,
    ...{ storm, pauseMs: during.longestPauseMs, lagP99Ms, cpuPercent },
    /** Longest delay of the steady clients' own timer. */
    clientLagMs: during.clientLagMs,
    deliveriesPerSecond: (during.deliveries / elapsedMs) * 1000,
    /** Share of their core that all client processes took during the storm. */
    clientCpuPercent: ((during.clientCpuMs + storm.clientCpuMs) / elapsedMs) * 100,
    steadyClosed: during.closed,
    /** Clients without exactly the events that they must have, by the count that they have. */
    wrongEvents,
  };
}

function pathOf({ isCrier }: StormSubject, auction: number): string {
  return isCrier ? '/graphql' : `/?channel=${encodeURIComponent(auctionChannel(PREFIX, auction))}`;
}

function steadyPlanOf(subject: StormSubject, port: number, redisUrl: string, sockets: number): SteadyPlan {
  return {
    ...{ port, redisUrl, sockets, channelPrefix: PREFIX, auctionId: STEADY_AUCTION },
    path: pathOf(subject, STEADY_AUCTION),
    query: subject.isCrier ? auctionDocument('viewer') : undefined,
    hasCoordinates: subject.isCrier,
  };
}

/** What the clients of an auction send. Those of a drained pod have the cursor of the event before those that they missed. */
async function arrivalOf(
  auction: number,
  subject: StormSubject,
  kind: StormKind,
  history: AuctionHistory,
  missed: number,
): Promise<Arrival> {
  const path = pathOf(subject, auction);
  if (!subject.isCrier) return { path, subscribe: undefined };
  const payload = { query: auctionDocument(), variables: { auction_id: auction } };
  if (kind === 'fresh') return { path, subscribe: subscribeMessage(payload) };
  await history.publish(auction, 1 + missed);
  const [seen] = await history.cursors(auction, 0, 1);
  return { path, subscribe: subscribeMessage({ ...payload, extensions: { resume: { cursor: seen!.cursor } } }) };
}

function subscribeMessage(payload: object): string {
  return JSON.stringify({ id: '1', type: 'subscribe', payload });
}

/** Raises the rate of the flood until it takes its share of the server's core. Resolves with the rate, in events a second. */
async function calibrate(
  server: ServerProcess,
  steadyClients: Remote<SteadyClients>,
  percent: number,
  say: (line: string) => void,
): Promise<number> {
  let rate = 20;
  for (let step = 0; step < MAX_STEPS; step++) {
    await steadyClients.flood(rate);
    await delay(SETTLE_MS);
    const [startedAt, before, waited] = [performance.now(), cpuMs(server.pid), cpuWaitMs(server.pid)];
    await delay(SHARE_MS);
    const availableMs = performance.now() - startedAt - (cpuWaitMs(server.pid) - waited);
    const share = ((cpuMs(server.pid) - before) / availableMs) * 100;
    say(`flood of ${rate.toFixed(0)} events a second takes ${share.toFixed(0)} % of the pod's core`);
    if (Math.abs(share - percent) <= TOLERANCE) return rate;
    // Half of the distance: more events in one turn cost less each, and a server beyond its core says nothing of how far.
    rate *= share < percent ? 1 + Math.min(1, (percent / share - 1) * 0.7) : 0.9;
  }
  return rate;
}
