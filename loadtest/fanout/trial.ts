import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../../stack/port.ts';
import { startServerProcess } from '../processes/server-process.ts';
import type { ServerProcess } from '../processes/server-process.ts';
import type { HeapReading } from '../servers/heap-gauge.ts';
import { auctionDocument } from './auction.ts';
import { startClient } from './client/client-calls.ts';
import type { Client, Measurement, Period } from './client/client-calls.ts';
import type { Contender, ContenderRedisKind } from './contenders.ts';
import { graphVariant } from './graph-variant.ts';

export const TENANTS = 50;
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
  readonly signal: AbortSignal;
}

export interface Sample extends Measurement {
  readonly contender: string;
  readonly sockets: number;
  /** Whether all sockets watch one auction; otherwise each watches its own. */
  readonly isForAll: boolean;
  readonly stalled: number;
  /** 0 with a rate. */
  readonly outstanding: number;
  /** Events a second; undefined: a closed loop. */
  readonly rate?: number | undefined;
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
  const { contender, redisUrls, kafkaBrokers, sockets, isForAll, load, onPeriod, signal } = options;
  const redisUrl = redisUrls[contender.redis ?? 'one']!;
  const [port, adminPort] = (await freePorts(2)) as [number, number];
  onPeriod('starts');
  const graph = contender.edits && (await graphVariant(contender.edits));
  const channelPrefix = `${contender.name}:`;
  const environment = {
    ADMIN_PORT: String(adminPort),
    REDIS_URL: redisUrl,
    CHANNEL_PREFIX: channelPrefix,
    ...(contender.isFedByKafka && { KAFKA_BROKERS: kafkaBrokers, KAFKA_GROUP_ID: contender.name }),
    ...contender.environment,
    ...(graph && { GRAPH: graph.path }),
  };
  const script = resolve(import.meta.dirname, '..', contender.script);
  const server = await startServerProcess(script, port, environment, contender.nodeArguments);
  const client = startClient();
  const stop = async () => {
    signal.removeEventListener('abort', onAbort);
    await client.stop();
    await server.stop();
    await graph?.remove();
  };
  const onAbort = () => void stop();
  signal.addEventListener('abort', onAbort);
  const named = (error: unknown) => new Error(`${contender.title}: ${(error as Error).message}`, { cause: error });
  try {
    signal.throwIfAborted();
    onPeriod(`connects ${sockets} sockets`);
    await client.connect({
      port,
      sockets,
      redisUrl,
      kafkaBrokers: contender.isFedByKafka ? kafkaBrokers : undefined,
      channelPrefix,
      hasCoordinates: contender.hasCoordinates ?? false,
      isStream: contender.isStream ?? false,
      isCompressed: contender.isCompressed ?? false,
      hasWindow: contender.hasWindow,
      query: contender.isGraphql ? auctionDocument(contender.identity) : undefined,
      identity: contender.identity,
      tokenSecret: contender.environment?.['JWT_SECRET'],
      tenants: TENANTS,
      isForAll,
    });
    onPeriod('warms up');
    const warmUpSeconds = load.rate === undefined ? WARM_UP_SECONDS : WARM_UP_AT_RATE_SECONDS;
    await client.measure({ ...load, seconds: warmUpSeconds, serverPid: server.pid, stalled: 0 });
    return {
      measure: async (measured) => {
        onPeriod(loadText(measured));
        try {
          return await sampleOf(options, { server, client, adminPort }, measured);
        } catch (error) {
          throw named(error);
        }
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw named(error);
  }
}

/** What is measured. */
interface Pair {
  readonly server: ServerProcess;
  readonly client: Client;
  readonly adminPort: number;
}

/** A load as tables and messages name it. */
export function loadText({ outstanding, rate }: Load): string {
  return rate === undefined ? `K=${outstanding}` : `${rate.toLocaleString('en')}/s`;
}

async function sampleOf(options: TrialOptions, pair: Pair, load: Load): Promise<Sample> {
  const { contender, sockets, isForAll, stalled, seconds, cpuProfile } = options;
  const { server, client, adminPort } = pair;
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
    contender: contender.name,
    sockets,
    isForAll,
    stalled,
    ...load,
    ...measured,
    lagP99Ms,
    residentBeforeBytes,
    residentBytes,
    ...(memory && { memory }),
    ...(isWatched && { slowConsumers: await slowConsumers(adminPort) }),
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
async function measureWatched({ client, adminPort }: Pair, period: Period): Promise<Measurement> {
  const { seconds, stalled } = period;
  const endsAt = performance.now() + seconds * 1000;
  let isOver = false;
  const measure = async () => {
    const measured = await client.measure({ ...period, seconds: Math.max(seconds, MAX_STALLED_SECONDS) });
    isOver = true;
    return measured;
  };
  const watch = async () => {
    const isEnough = (closed: number) => (stalled > 0 ? closed >= stalled : performance.now() >= endsAt);
    while (!isOver && !isEnough(await slowConsumers(adminPort))) await delay(WATCH_INTERVAL_MS);
    await client.finish();
  };
  const [measured] = await Promise.all([measure(), watch()]);
  return measured;
}

async function slowConsumers(adminPort: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  return Number(/^crier_slow_consumers_total (\d+)/m.exec(text)?.[1] ?? 0);
}
