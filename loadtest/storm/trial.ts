import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../../stack/port.ts';
import { auctionChannel, auctionDocument } from '../fanout/auction.ts';
import { graphVariant, withBinding } from '../fanout/graph-variant.ts';
import { callProcess } from '../processes/process-call.ts';
import { cpuMs, cpuWaitMs } from '../processes/process-usage.ts';
import { startServerProcess, stopProcess } from '../processes/server-process.ts';
import type { ServerProcess } from '../processes/server-process.ts';
import { startArguments } from '../processes/start-arguments.ts';
import { AuctionHistory } from '../resume/history.ts';
import type { StormPlan, StormReport } from './arriving-clients.ts';
import type { SteadyPlan, SteadyReport } from './steady-clients.ts';

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
export interface StormFigures {
  readonly subject: string;
  readonly title: string;
  readonly kind: StormKind;
  readonly sockets: number;
  readonly floodEventsPerSecond: number;
  readonly cpuBeforePercent: number;
  readonly pauseBeforeMs: number;
  readonly storm: StormReport;
  readonly pauseMs: number;
  readonly lagP99Ms: number;
  readonly cpuPercent: number;
  readonly deliveriesPerSecond: number;
  /** Longest delay of the steady clients' own timer. */
  readonly clientLagMs: number;
  /** Share of their core that all client processes took during the storm. */
  readonly clientCpuPercent: number;
  readonly steadyClosed: number;
  /** Clients without exactly the events that they must have, by the count that they have. */
  readonly wrongEvents: Readonly<Record<string, number>>;
}

const PREFIX = 'storm:';
const SECRET = 'a secret of this benchmark, of 32 characters or more';
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
  redisUrl: string,
  say: (line: string) => void,
  knownRate?: number,
): Promise<StormFigures> {
  const closing: (() => Promise<unknown>)[] = [];
  const { sockets, steady, missed } = settings;
  const label = `${subject.name}, ${kind}`;
  try {
    const graph = await graphVariant(kind === 'drained' ? withBinding('history: {}') : {});
    closing.push(() => graph.remove());
    const [port, adminPort] = (await freePorts(2)) as [number, number];
    const server = await startServerProcess(
      subject.script,
      port,
      environmentOf(adminPort, graph.path, redisUrl),
      subject.isCrier ? startArguments() : [],
    );
    closing.push(() => server.stop());
    const history = new AuctionHistory(redisUrl, PREFIX);
    await history.open();
    closing.push(() => history.close());
    const auctions = Array.from({ length: settings.auctions }, (_, i) => FIRST_AUCTION + i);
    const arrivals = [];
    for (const auction of auctions) arrivals.push(await arrivalOf(auction, subject, kind, history, missed));
    const steadyClients = startChild('steady-clients.js', closing);
    say(`${label}: ${steady} steady clients connect`);
    await callProcess(steadyClients, 'connect', steadyPlanOf(subject, port, redisUrl, steady));
    const rate =
      knownRate ?? (await calibrate(server, steadyClients, settings.cpuPercent, (line) => say(`${label}: ${line}`)));
    await callProcess(steadyClients, 'flood', rate);
    await callProcess(steadyClients, 'report');
    const cpuBefore = cpuMs(server.pid);
    await delay(SHARE_MS);
    const before = await callProcess<SteadyReport>(steadyClients, 'report');
    const cpuBeforePercent = ((cpuMs(server.pid) - cpuBefore) / SHARE_MS) * 100;

    const arriving = startChild('arriving-clients.js', closing);
    say(`${label}: ${sockets} clients arrive`);
    await server.reset();
    await callProcess(steadyClients, 'report');
    const [startedAt, cpuAt] = [performance.now(), cpuMs(server.pid)];
    const plan: StormPlan = { port, sockets, arrivals, timeoutMs: STORM_TIMEOUT_MS };
    const storm = await callProcess<StormReport>(arriving, 'arrive', plan);
    const during = await callProcess<SteadyReport>(steadyClients, 'report');
    const elapsedMs = performance.now() - startedAt;
    const { lagP99Ms } = await server.report();
    const cpuPercent = ((cpuMs(server.pid) - cpuAt) / elapsedMs) * 100;
    await callProcess(steadyClients, 'flood', 0);
    say(`${label}: ${storm.subscribed} subscribed after ${(storm.allMs / 1000).toFixed(1)} s; one event for each`);
    for (const auction of auctions) await history.publish(auction, 1);
    const count = 1 + (kind === 'drained' ? missed : 0);
    const wrongEvents = await callProcess<Record<string, number>>(arriving, 'events', {
      count,
      timeoutMs: EVENTS_TIMEOUT_MS,
    });
    return {
      subject: subject.name,
      title: subject.title,
      kind,
      sockets,
      floodEventsPerSecond: rate,
      cpuBeforePercent,
      pauseBeforeMs: before.longestPauseMs,
      storm,
      pauseMs: during.longestPauseMs,
      lagP99Ms,
      cpuPercent,
      deliveriesPerSecond: (during.deliveries / elapsedMs) * 1000,
      clientLagMs: during.clientLagMs,
      clientCpuPercent: ((during.clientCpuMs + storm.clientCpuMs) / elapsedMs) * 100,
      steadyClosed: during.closed,
      wrongEvents,
    };
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

function environmentOf(adminPort: number, graph: string, redisUrl: string): Record<string, string> {
  return {
    ROLE: 'gateway',
    GRAPH: graph,
    REDIS_URL: redisUrl,
    CHANNEL_PREFIX: PREFIX,
    CURSOR_SECRET: SECRET,
    ADMIN_PORT: String(adminPort),
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
) {
  const path = pathOf(subject, auction);
  if (!subject.isCrier) return { path, subscribe: undefined };
  const payload = { query: auctionDocument(), variables: { auction_id: auction } };
  if (kind === 'fresh') return { path, subscribe: subscribeMessage(payload) };
  await history.publish(auction, 1 + missed);
  const [seen] = await history.cursors(auction, SECRET, 0, 1);
  return { path, subscribe: subscribeMessage({ ...payload, extensions: { resume: { cursor: seen!.cursor } } }) };
}

function subscribeMessage(payload: object): string {
  return JSON.stringify({ id: '1', type: 'subscribe', payload });
}

/** Raises the rate of the flood until it takes its share of the server's core. Resolves with the rate, in events a second. */
async function calibrate(
  server: ServerProcess,
  steadyClients: ChildProcess,
  percent: number,
  say: (line: string) => void,
): Promise<number> {
  let rate = 20;
  for (let step = 0; step < MAX_STEPS; step++) {
    await callProcess(steadyClients, 'flood', rate);
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

function startChild(script: string, closing: (() => Promise<unknown>)[]): ChildProcess {
  const child = fork(new URL(script, import.meta.url).pathname, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  closing.push(() => stopProcess(child));
  return child;
}
