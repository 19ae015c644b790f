import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { freePorts } from '../stack/port.ts';
import { startRedisServer } from '../stack/redis-server.ts';
import { runCommand, say } from './command.ts';
import { publishFaults } from './fault-report.ts';
import { auctionDocument } from './fanout/auction.ts';
import { graphVariant, withBinding } from './fanout/graph-variant.ts';
import { numberFlag } from './number-flag.ts';
import { CLIENT_CORE, pinThisProcess } from './processes/pinning.ts';
import { callProcess } from './processes/process-call.ts';
import { AuctionHistory } from './resume/history.ts';
import { othersLatencies } from './resume/latencies.ts';
import type { OthersLatencies } from './resume/latencies.ts';
import type { OthersPlan, OthersReport } from './resume/other-clients.ts';
import type { ResumePlan, ResumeReport, Storm } from './resume/resuming-clients.ts';
import { startServerProcess, stopProcess } from './processes/server-process.ts';
import type { ServerProcess } from './processes/server-process.ts';
import { startArguments } from './processes/start-arguments.ts';

const USAGE = `Measures what it costs a gateway and its other clients when many clients of one channel resume at once.

Usage: npm run bench:resume -- [flags]

  --sockets <number>  clients that resume; default: 4000
  --events <number>   events after the oldest cursor; default: 300
  --cursors <number>  different cursors, of consecutive events; default: 1
  --others <number>   clients on another channel, whose latency is measured before and during; default: 200
  --rate <number>     events a second for the others; default: 20
  --seconds <number>  duration of the measurement before each storm; default: 10
  --storms <number>   storms in sequence; the first one meets a gateway that has just started; default: 2
  --base <folder>     another checkout of crier, built: runs its gateway instead
  --out <name>        loadtest/results/<name>.json and .md; default: resume
  --help

Exits with 1 when a client did not receive every event once and in order, or a limit is exceeded.
`;

const PREFIX = 'bench:';
const SECRET = 'a secret of this benchmark, of 32 characters or more';
const [RESUMED_AUCTION, OTHER_AUCTION] = [1, 2];
/** Text that only the others' results contain. */
const OTHERS_MARKER = `"auction_id":${OTHER_AUCTION},`;
/** Events published after the resume, to check that every subscription is live. */
const LIVE_EVENTS = 3;
/** Time for subscriptions that start or end together to settle. */
const SETTLE_MS = 2000;
const MAX_LAG_MS = 50;
const MAX_RATIO = 1.5;

const { values } = parseArgs({
  options: {
    sockets: { type: 'string', default: '4000' },
    events: { type: 'string', default: '300' },
    cursors: { type: 'string', default: '1' },
    others: { type: 'string', default: '200' },
    rate: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '10' },
    storms: { type: 'string', default: '2' },
    base: { type: 'string' },
    out: { type: 'string', default: 'resume' },
    help: { type: 'boolean', short: 'h' },
  },
});

/** Figures of one storm. */
interface Figures {
  readonly deliveries: number;
  readonly seconds: number;
  readonly executions: number;
  readonly historyReads: number;
  readonly lagP99Ms: number;
  readonly before: OthersLatencies;
  readonly during: OthersLatencies;
  readonly residentMb: number;
}

async function main(): Promise<void> {
  if (values.help) return void process.stdout.write(USAGE);
  const [sockets, events, cursors, others, rate, seconds, storms] = (
    ['sockets', 'events', 'cursors', 'others', 'rate', 'seconds', 'storms'] as const
  ).map((flag) => numberFlag(flag, values[flag])) as [number, number, number, number, number, number, number];
  if (cursors > events) throw new Error(`--cursors: expected at most --events, ${events}, got ${cursors}`);
  const script = resolve(values.base ?? '.', 'dist/src/main.js');
  if (!existsSync(script)) throw new Error(`--base: ${script} is missing; run npm ci && npm run build there`);
  pinThisProcess(CLIENT_CORE);
  const closing: (() => Promise<unknown>)[] = [];
  try {
    const redis = await startRedisServer();
    closing.push(() => redis.stop());
    const graph = await graphVariant(withBinding('history: {}'));
    closing.push(() => graph.remove());
    const history = new AuctionHistory(redis.url, PREFIX);
    await history.open();
    closing.push(() => history.close());
    let lastVersion = await history.publish(RESUMED_AUCTION, events + 1);
    const [port, adminPort] = (await freePorts(2)) as [number, number];
    const environment = {
      ROLE: 'gateway',
      GRAPH: graph.path,
      REDIS_URL: redis.url,
      CHANNEL_PREFIX: PREFIX,
      CURSOR_SECRET: SECRET,
      ADMIN_PORT: String(adminPort),
    };
    const server = await startServerProcess(script, port, environment, startArguments());
    closing.push(() => server.stop());
    const query = auctionDocument();
    const otherClients = startChild('resume/other-clients.js', closing);
    const plan: OthersPlan = {
      port,
      redisUrl: redis.url,
      channelPrefix: PREFIX,
      auctionId: OTHER_AUCTION,
      sockets: others,
      eventsPerSecond: rate,
      query,
    };
    await callProcess(otherClients, 'start', plan);
    const clients = startChild('resume/resuming-clients.js', closing);
    say(`${sockets} clients connect`);
    const variables = { auction_id: RESUMED_AUCTION };
    await callProcess(clients, 'connect', { port, sockets, query, variables } satisfies ResumePlan);
    await server.readWrites(OTHERS_MARKER);
    const othersReport = async () => {
      const report = await callProcess<OthersReport>(otherClients, 'report');
      return othersLatencies(report, await server.readWrites(OTHERS_MARKER));
    };
    const figures: Figures[] = [];
    const faults = new Set<string>();
    for (let storm = 0; storm < storms; storm++) {
      const lastSeen = await history.cursors(RESUMED_AUCTION, SECRET, storm * LIVE_EVENTS, cursors);
      await delay(SETTLE_MS);
      say(`the others alone, ${seconds} s`);
      await othersReport();
      await delay(seconds * 1000);
      const before = await othersReport();
      const counted = await countersOf(adminPort, redis.url);
      await server.reset();
      say('all resume');
      const resumed = await callProcess<ResumeReport>(clients, 'resume', { lastSeen, lastVersion } satisfies Storm);
      const during = await othersReport();
      const after = await countersOf(adminPort, redis.url);
      figures.push({
        ...(await figuresOf(server, resumed)),
        // Without the others' events, which take one execution each.
        executions: after.executions - counted.executions - (after.events - counted.events),
        historyReads: after.historyReads - counted.historyReads,
        before,
        during,
      });
      lastVersion = await history.publish(RESUMED_AUCTION, LIVE_EVENTS);
      const followed = await callProcess<ResumeReport>(clients, 'follow', lastVersion);
      for (const fault of [...resumed.faults, ...followed.faults]) faults.add(fault);
      await callProcess(clients, 'complete');
    }
    for (const fault of await callProcess<string[]>(otherClients, 'stop', others)) faults.add(fault);
    for (const one of figures) for (const fault of limitsExceeded(one, events, cursors)) faults.add(fault);
    await publish(figures, [...faults]);
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

async function figuresOf(server: ServerProcess, { deliveries, elapsedMs }: ResumeReport) {
  const { lagP99Ms, residentBytes } = await server.report();
  return { deliveries, seconds: elapsedMs / 1000, lagP99Ms, residentMb: residentBytes / 1024 / 1024 };
}

function startChild(script: string, closing: (() => Promise<unknown>)[]): ChildProcess {
  const child = fork(new URL(script, import.meta.url).pathname, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  closing.push(() => stopProcess(child));
  return child;
}

interface Counters {
  readonly executions: number;
  readonly events: number;
  readonly historyReads: number;
}

async function countersOf(adminPort: number, redisUrl: string): Promise<Counters> {
  const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  const metric = (name: string) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(metrics)?.[1] ?? 0);
  const redis = new Redis(redisUrl);
  const stats = await redis.info('commandstats');
  redis.disconnect();
  return {
    executions: metric('crier_executions_total'),
    events: metric('crier_events_total'),
    // Once in each read of a history; the events of the others are published without one.
    historyReads: Number(/cmdstat_xrevrange:calls=(\d+)/.exec(stats)?.[1] ?? 0),
  };
}

function limitsExceeded(
  { executions, historyReads, lagP99Ms, before, during }: Figures,
  events: number,
  cursors: number,
) {
  const ratio = during.p99Ms / before.p99Ms;
  return [
    executions > events + cursors && `${executions} executions, more than ${events} events and ${cursors} cursors`,
    historyReads > cursors && `${historyReads} reads of the history for ${cursors} cursors`,
    lagP99Ms > MAX_LAG_MS && `event loop lag p99 ${lagP99Ms.toFixed(1)} ms, more than ${MAX_LAG_MS}`,
    ratio > MAX_RATIO && `p99 of the others ${ratio.toFixed(2)} times that before, more than ${MAX_RATIO}`,
  ].filter((fault) => fault !== false);
}

async function publish(figures: readonly Figures[], faults: readonly string[]): Promise<void> {
  const row = (name: string, value: (storm: Figures) => string) => [name, ...figures.map(value)];
  const pair = (value: (latencies: OthersLatencies) => number) => (storm: Figures) =>
    `${value(storm.before).toFixed(2)} / ${value(storm.during).toFixed(2)}`;
  const table = [
    ['figure', ...figures.map((_, i) => `storm ${i + 1}`)],
    row('replayed deliveries', ({ deliveries }) => String(deliveries)),
    row('seconds until the last', ({ seconds }) => seconds.toFixed(2)),
    row('executions', ({ executions }) => String(executions)),
    row('history reads', ({ historyReads }) => String(historyReads)),
    row('event loop lag p99, ms', ({ lagP99Ms }) => lagP99Ms.toFixed(1)),
    row(
      'others p50 before / during, ms',
      pair(({ p50Ms }) => p50Ms),
    ),
    row(
      'others p99 before / during, ms',
      pair(({ p99Ms }) => p99Ms),
    ),
    row('others p99 ratio', ({ before, during }) => (during.p99Ms / before.p99Ms).toFixed(2)),
    row(
      'others p99 until the write, ms',
      pair(({ writtenP99Ms }) => writtenP99Ms),
    ),
    row('RSS, MB', ({ residentMb }) => residentMb.toFixed(0)),
  ];
  const { out: name } = values;
  const success = 'Every client got every event once and in order.';
  await publishFaults({ command: 'resume', name, flags: values, table, success, faults, data: { figures } });
}

runCommand('resume', main);
