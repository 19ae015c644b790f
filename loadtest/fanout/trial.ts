import { freePorts } from '../../deploy/port.ts';
import { startServerProcess } from '../server-process.ts';
import { auctionDocument } from './auction.ts';
import { startClient } from './client-calls.ts';
import type { Measurement } from './client-calls.ts';
import type { Contender } from './contenders.ts';
import { graphWithHistory } from './graph-with-history.ts';

const CHANNEL_PREFIX = 'bench:';
export const TENANTS = 50;

export interface TrialOptions {
  readonly contender: Contender;
  readonly redisUrl: string;
  readonly kafkaBrokers: string;
  readonly sockets: number;
  readonly stalled: number;
  readonly isForAll: boolean;
  readonly outstanding: readonly number[];
  readonly seconds: number;
  readonly onPeriod: (what: string) => void;
  readonly signal: AbortSignal;
}

export interface Sample extends Measurement {
  readonly contender: string;
  readonly sockets: number;
  /** All sockets on one auction; else each on its own. */
  readonly isForAll: boolean;
  readonly stalled: number;
  readonly outstanding: number;
  readonly messageBytes: number;
  readonly lagP99Ms: number;
  readonly residentBeforeBytes: number;
  readonly residentBytes: number;
  /** Connections that the server says it closed with 1013 so far, where it says so. */
  readonly slowConsumers?: number;
}

/** One server, started and connected anew, measured at each number of outstanding events in turn. */
export async function runTrial(options: TrialOptions): Promise<Sample[]> {
  const { contender, redisUrl, kafkaBrokers, sockets, stalled, isForAll, outstanding, seconds, onPeriod, signal } =
    options;
  const [port, adminPort] = (await freePorts(2)) as [number, number];
  onPeriod('starts');
  const graph = contender.hasHistory ? await graphWithHistory() : undefined;
  const environment = {
    ADMIN_PORT: String(adminPort),
    REDIS_URL: redisUrl,
    CHANNEL_PREFIX,
    ...(contender.isFedByKafka && { KAFKA_BROKERS: kafkaBrokers, KAFKA_GROUP_ID: `bench-${port}-${Date.now()}` }),
    ...contender.environment,
    ...(graph && { GRAPH: graph.path }),
  };
  const script = new URL(`../${contender.script}`, import.meta.url).pathname;
  const server = await startServerProcess(script, port, environment, contender.nodeArguments);
  const client = startClient();
  const stop = async () => {
    await client.stop();
    await server.stop();
    await graph?.remove();
  };
  const onAbort = () => void stop();
  signal.addEventListener('abort', onAbort);
  try {
    signal.throwIfAborted();
    onPeriod(`connects ${sockets} sockets`);
    const { messageBytes } = await client.connect({
      port,
      sockets,
      redisUrl,
      kafkaBrokers: contender.isFedByKafka ? kafkaBrokers : undefined,
      channelPrefix: CHANNEL_PREFIX,
      hasCoordinates: contender.hasCoordinates ?? false,
      query: contender.isGraphql ? auctionDocument(contender.identity) : undefined,
      identity: contender.identity,
      tenants: TENANTS,
      isForAll,
    });
    const samples: Sample[] = [];
    for (const k of outstanding) {
      onPeriod(`K=${k}`);
      await server.reset();
      const { residentBytes: residentBeforeBytes } = await server.report();
      const measured = await client.measure({ outstanding: k, seconds, serverPid: server.pid, stalled });
      const { lagP99Ms, residentBytes } = await server.report();
      samples.push({
        contender: contender.name,
        sockets,
        isForAll,
        stalled,
        outstanding: k,
        messageBytes,
        ...measured,
        lagP99Ms,
        residentBeforeBytes,
        residentBytes,
        ...(contender.hasMetrics && stalled > 0 && { slowConsumers: await slowConsumers(adminPort) }),
      });
    }
    return samples;
  } catch (error) {
    throw new Error(`${contender.title}: ${(error as Error).message}`, { cause: error });
  } finally {
    signal.removeEventListener('abort', onAbort);
    await stop();
  }
}

async function slowConsumers(adminPort: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  return Number(/^crier_slow_consumers_total (\d+)/m.exec(text)?.[1] ?? 0);
}
