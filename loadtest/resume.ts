import { Redis } from 'ioredis';
import { auctionDocument } from './fanout/auction.ts';
import { graphVariant, withBinding } from './fanout/graph-variant.ts';
import { startRemote } from './processes/process-call.ts';
import { startServer } from './processes/server-process.ts';
import type { ServerProcess } from './processes/server-process.ts';
import { startArguments } from './processes/start-arguments.ts';
import { AuctionHistory } from './resume/history.ts';
import type { OtherClients, OthersReport } from './resume/other-clients.ts';
import type { ResumingClients } from './resume/resuming-clients.ts';
import { base, whole } from './runner/flags.ts';
import { defineScenario } from './runner/scenario.ts';
import { percentile } from './runner/spread.ts';
import type { Write } from './servers/write-gauge.ts';

const PREFIX = 'bench:';
const [RESUMED_AUCTION, OTHER_AUCTION] = [1, 2];
/** Text that only the others' results contain. */
const OTHERS_MARKER = `"auction_id":${OTHER_AUCTION},`;
/** Events published after the resume, to check that every subscription is live. */
const LIVE_EVENTS = 3;
/** Time for subscriptions that start or end together to settle. */
const SETTLE_MS = 2000;
const MAX_LAG_MS = 50;
const MAX_RATIO = 1.5;

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

export const scenario = defineScenario({
  name: 'resume',
  question: 'Measures what it costs a gateway and its other clients when many clients of one channel resume at once.',
  flags: {
    sockets: whole('clients that resume', 4000),
    events: whole('events after the oldest cursor', 300),
    cursors: whole('different cursors, of consecutive events', 1),
    others: whole('clients on another channel, whose latency is measured before and during', 200),
    rate: whole('events a second for the others', 20),
    seconds: whole('duration of the measurement before each storm', 10),
    storms: whole('storms in sequence; the first one meets a gateway that has just started', 2),
    base: base('runs its gateway instead'),
  },
  packages: ['ws', 'graphql'],
  notes: 'Exits with 1 when a client did not receive every event once and in order, or a limit is exceeded.',
  run: async ({ flags, scope, say, pause }) => {
    const { sockets, events, cursors, others, rate, seconds, storms } = flags;
    if (cursors > events) throw new Error(`--cursors: expected at most --events, ${events}, got ${cursors}`);
    const redis = await scope.redis();
    const graph = await graphVariant(withBinding('history: {}'), scope);
    const history = new AuctionHistory(redis.url, PREFIX);
    await history.open();
    scope.after(() => history.close());
    let lastVersion = await history.publish(RESUMED_AUCTION, events + 1);
    const where = { REDIS_URL: redis.url, CHANNEL_PREFIX: PREFIX };
    const environment = { ROLE: 'gateway', GRAPH: graph, ...where };
    const server = await startServer({ script: flags.base, environment, nodeArguments: startArguments() }, scope);
    const { port } = server;
    const query = auctionDocument();
    const otherClients = startRemote<OtherClients>('resume/other-clients.js', scope);
    await otherClients.start({
      ...{ port, redisUrl: redis.url, channelPrefix: PREFIX, auctionId: OTHER_AUCTION },
      ...{ sockets: others, eventsPerSecond: rate, query },
    });
    const clients = startRemote<ResumingClients>('resume/resuming-clients.js', scope);
    say(`${sockets} clients connect`);
    await clients.connect({ port, sockets, query, variables: { auction_id: RESUMED_AUCTION } });
    await server.readWrites(OTHERS_MARKER);
    const othersReport = async () => latenciesOf(await otherClients.report(), await server.readWrites(OTHERS_MARKER));
    const figures: Figures[] = [];
    const faults: string[] = [];
    for (let storm = 0; storm < storms; storm++) {
      const lastSeen = await history.cursors(RESUMED_AUCTION, storm * LIVE_EVENTS, cursors);
      await pause(SETTLE_MS);
      say(`the others alone, ${seconds} s`);
      await othersReport();
      await pause(seconds * 1000);
      const before = await othersReport();
      const counted = await countersOf(server, redis.url);
      await server.reset();
      say('all resume');
      const resumed = await clients.resume({ lastSeen, lastVersion });
      const during = await othersReport();
      const after = await countersOf(server, redis.url);
      const { lagP99Ms, residentBytes } = await server.report();
      figures.push({
        ...{ deliveries: resumed.deliveries, seconds: resumed.elapsedMs / 1000, lagP99Ms, before, during },
        residentMb: residentBytes / 1024 / 1024,
        // Without the others' events, which take one execution each.
        executions: after.executions - counted.executions - (after.events - counted.events),
        historyReads: after.historyReads - counted.historyReads,
      });
      lastVersion = await history.publish(RESUMED_AUCTION, LIVE_EVENTS);
      const followed = await clients.follow(lastVersion);
      faults.push(...resumed.faults, ...followed.faults);
      await clients.complete();
    }
    faults.push(
      ...(await otherClients.finish(others)),
      ...figures.flatMap((one) => limitsExceeded(one, events, cursors)),
    );
    return {
      sections: [{ table: tableOf(figures) }],
      success: 'Every client got every event once and in order.',
      faults,
      data: { figures },
    };
  },
});

/** Latencies of the other clients, counted from the publish of an event. */
type OthersLatencies = ReturnType<typeof latenciesOf>;

function latenciesOf({ latencies, publishedAt, firstVersion }: OthersReport, writes: readonly Write[]) {
  const written = writes.map(([version, atMs]) => atMs - publishedAt[version - firstVersion]!);
  return {
    deliveries: latencies.length,
    /** Until its arrival at a client. */
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    /** Until the gateway hands the result to the kernel, which excludes waits on the client's core. */
    writtenP99Ms: percentile(written, 0.99),
  };
}

async function countersOf(server: ServerProcess, redisUrl: string) {
  const redis = new Redis(redisUrl);
  const stats = await redis.info('commandstats');
  redis.disconnect();
  return {
    executions: await server.metric('crier_executions_total'),
    events: await server.metric('crier_events_total'),
    // Once in each read of a history; the events of the others are published without one.
    historyReads: Number(/cmdstat_xrevrange:calls=(\d+)/.exec(stats)?.[1] ?? 0),
  };
}

function limitsExceeded(
  { executions, historyReads, lagP99Ms, ...of }: Figures,
  events: number,
  cursors: number,
): string[] {
  const ratio = of.during.p99Ms / of.before.p99Ms;
  return [
    executions > events + cursors && `${executions} executions, more than ${events} events and ${cursors} cursors`,
    historyReads > cursors && `${historyReads} reads of the history for ${cursors} cursors`,
    lagP99Ms > MAX_LAG_MS && `event loop lag p99 ${lagP99Ms.toFixed(1)} ms, more than ${MAX_LAG_MS}`,
    ratio > MAX_RATIO && `p99 of the others ${ratio.toFixed(2)} times that before, more than ${MAX_RATIO}`,
  ].filter((fault) => fault !== false);
}

function tableOf(figures: readonly Figures[]): string[][] {
  const row = (name: string, value: (storm: Figures) => string) => [name, ...figures.map(value)];
  const pair = (name: string, figure: keyof OthersLatencies) =>
    row(name, ({ before, during }) => `${before[figure].toFixed(2)} / ${during[figure].toFixed(2)}`);
  return [
    ['figure', ...figures.map((_, i) => `storm ${i + 1}`)],
    row('replayed deliveries', ({ deliveries }) => String(deliveries)),
    row('seconds until the last', ({ seconds }) => seconds.toFixed(2)),
    row('executions', ({ executions }) => String(executions)),
    row('history reads', ({ historyReads }) => String(historyReads)),
    row('event loop lag p99, ms', ({ lagP99Ms }) => lagP99Ms.toFixed(1)),
    pair('others p50 before / during, ms', 'p50Ms'),
    pair('others p99 before / during, ms', 'p99Ms'),
    row('others p99 ratio', ({ before, during }) => (during.p99Ms / before.p99Ms).toFixed(2)),
    pair('others p99 until the write, ms', 'writtenP99Ms'),
    row('RSS, MB', ({ residentMb }) => residentMb.toFixed(0)),
  ];
}
