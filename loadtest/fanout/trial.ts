import { setTimeout as delay } from 'node:timers/promises';
import { startRemote } from '../processes/process-call.ts';
import type { Remote } from '../processes/process-call.ts';
import { startServer } from '../processes/server-process.ts';
import type { ServerProcess } from '../processes/server-process.ts';
import { Scope } from '../runner/scope.ts';
import type { HeapReading } from '../servers/heap-gauge.ts';
import { auctionDocument } from './auction.ts';
import type { FanoutClient, Measurement, Period } from './client/client.ts';
import type { Contender, ContenderRedisKind } from './contenders.ts';
import { graphVariant } from './graph-variant.ts';

/** Longest time until a server has closed the stalled sockets. */
const MAX_STALLED_SECONDS = 180;
const WATCH_INTERVAL_MS = 1000;
/** Warm-up before the first window, for V8 to compile. */
const WARM_UP_SECONDS = 2;
/** The same with a rate, which runs the code less often. */
const WARM_UP_AT_RATE_SECONDS = 8;

/** Outstanding events of a closed loop, or the rate of an open one. */
export type Load = Pick<Period, 'outstanding' | 'rate'>;

export interface TrialOptions {
  readonly contender: Contender;
  /** REDIS_URL for each kind of Redis that the contenders have. */
  readonly redisUrls: Readonly<Partial<Record<ContenderRedisKind, string>>>;
  readonly kafkaBrokers: string;
  readonly sockets: number;
  readonly stalled: number;
  /**
   * Whether windows read the server's metrics every second and last until it has closed all stalled sockets. The same for all compared
   * windows.
   */
  readonly isWatched: boolean;
  /** Path for a CPU profile of the windows; undefined: none. Figures of profiled windows do not count. */
  readonly cpuProfile?: string;
  readonly isForAll: boolean;
  /** While it warms up. */
  readonly load: Load;
  readonly seconds: number;
  readonly onPeriod: (what: string) => void;
  readonly scope: Scope;
}

/** The conditions of a window. */
export interface Conditions {
  readonly contender: string;
  readonly sockets: number;
  /** Whether all sockets watch one auction; otherwise each watches its own. */
  readonly isForAll: boolean;
  readonly stalled: number;
  /** 0 with a rate. */
  readonly outstanding: number;
  /** Events a second; undefined: a closed loop. */
  readonly rate?: number | undefined;
}

export interface Sample extends Measurement, Conditions {
  readonly lagP99Ms: number;
  readonly residentBeforeBytes: number;
  readonly residentBytes: number;
  /** Connections closed with 1013 so far, by the server's metrics; undefined without them. */
  readonly slowConsumers?: number;
  /** Each second of a window with a rate. */
  readonly memory?: readonly HeapReading[];
}

/** A server with its connected sockets. */
export interface Trial {
  /** One window. */
  measure(load: Load): Promise<Sample>;
  stop(): Promise<void>;
}

/** Starts a server, connects the sockets and warms it up. Servers of several contenders may run at once: none receives another's events. */
export async function openTrial(options: TrialOptions): Promise<Trial> {
  const { contender, scope: outer, onPeriod } = options;
  const scope = new Scope();
  outer.after(() => scope.close());
  const named = (error: unknown) => new Error(`${contender.title}: ${(error as Error).message}`, { cause: error });
  try {
    const pair = await openPair(options, scope);
    const measure = async (load: Load) => {
      onPeriod(loadText(load));
      return sampleOf(options, pair, load).catch((error: unknown) => Promise.reject(named(error)));
    };
    return { measure, stop: () => scope.close() };
  } catch (error) {
    await scope.close();
    throw named(error);
  }
}

/** What is measured. */
interface Pair {
  readonly server: ServerProcess;
  readonly client: Remote<FanoutClient>;
}

async function openPair(options: TrialOptions, scope: Scope): Promise<Pair> {
  const { contender, redisUrls, kafkaBrokers, sockets, isForAll, load, onPeriod } = options;
  const redisUrl = redisUrls[contender.redis ?? 'one']!;
  onPeriod('starts');
  const graph = contender.edits && (await graphVariant(contender.edits, scope));
  const channelPrefix = `${contender.name}:`;
  const environment = {
    REDIS_URL: redisUrl,
    CHANNEL_PREFIX: channelPrefix,
    ...(contender.isFedByKafka && { KAFKA_BROKERS: kafkaBrokers, KAFKA_GROUP_ID: contender.name }),
    ...contender.environment,
    ...(graph && { GRAPH: graph }),
  };
  const server = await startServer({ ...contender, environment }, scope);
  const client = startRemote<FanoutClient>('fanout/client/client.js', scope);
  onPeriod(`connects ${sockets} sockets`);
  const { hasCoordinates, isStream, isCompressed, hasWindow, identity } = contender;
  await client.connect({
    ...{ port: server.port, sockets, redisUrl, channelPrefix, isForAll },
    ...{ hasCoordinates, isStream, isCompressed, hasWindow, identity },
    kafkaBrokers: contender.isFedByKafka ? kafkaBrokers : undefined,
    query: contender.isGraphql ? auctionDocument(identity) : undefined,
    tokenSecret: contender.environment?.['JWT_SECRET'],
  });
  onPeriod('warms up');
  const seconds = load.rate === undefined ? WARM_UP_SECONDS : WARM_UP_AT_RATE_SECONDS;
  await client.measure({ ...load, seconds, serverPid: server.pid, stalled: 0 });
  return { server, client };
}

/** A load as tables and messages name it. */
export function loadText({ outstanding, rate }: Load): string {
  return rate === undefined ? `K=${outstanding}` : `${rate.toLocaleString('en')}/s`;
}

async function sampleOf(options: TrialOptions, pair: Pair, load: Load): Promise<Sample> {
  const { contender, sockets, isForAll, stalled, seconds, cpuProfile } = options;
  const { server, client } = pair;
  const isWatched = options.isWatched && contender.hasMetrics;
  const period = { ...load, seconds, serverPid: server.pid, stalled };
  await server.reset();
  const { residentBytes: residentBeforeBytes } = await server.report();
  if (cpuProfile !== undefined) await server.startCpuProfile();
  const measuring = isWatched ? measureWatched(pair, period) : client.measure(period);
  const memory = load.rate === undefined ? undefined : await readingsUntil(measuring, server);
  const measured = await measuring;
  if (cpuProfile !== undefined) await server.stopCpuProfile(cpuProfile);
  const { lagP99Ms, residentBytes } = await server.report();
  return {
    ...{ contender: contender.name, sockets, isForAll, stalled, ...load, ...measured },
    ...{ lagP99Ms, residentBeforeBytes, residentBytes },
    ...(memory && { memory }),
    ...(isWatched && { slowConsumers: await server.metric('crier_slow_consumers_total') }),
  };
}

/** One reading of the server's heap a second, until the window has ended. */
async function readingsUntil(measuring: Promise<unknown>, server: ServerProcess): Promise<HeapReading[]> {
  const readings: HeapReading[] = [];
  const ended = measuring.then(() => true);
  await server.readHeap();
  while (!(await Promise.race([ended, delay(WATCH_INTERVAL_MS, false)]))) readings.push(await server.readHeap());
  return readings;
}

/**
 * Measures until the server has closed all stalled sockets, or for `seconds` without any. Not longer: stalled sockets read again at the
 * end, and the server waits only briefly for their close frames.
 */
async function measureWatched({ client, server }: Pair, period: Period): Promise<Measurement> {
  const { seconds, stalled } = period;
  const endsAt = performance.now() + seconds * 1000;
  let isOver = false;
  const measuring = client.measure({ ...period, seconds: Math.max(seconds, MAX_STALLED_SECONDS) });
  const isEnough = (closed: number) => (stalled > 0 ? closed >= stalled : performance.now() >= endsAt);
  const watch = async () => {
    while (!isOver && !isEnough(await server.metric('crier_slow_consumers_total'))) await delay(WATCH_INTERVAL_MS);
    await client.finish();
  };
  const [measured] = await Promise.all([measuring.finally(() => (isOver = true)), watch()]);
  return measured;
}
