import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMs } from '../monotonic.ts';
import { createPublisher } from '../fanout/client/publisher.ts';
import type { Publisher } from '../fanout/client/publisher.ts';
import { answerCalls } from '../processes/process-call.ts';
import { Receiver, openAll } from './receiver.ts';

/** The process of the clients that go on meanwhile, on a channel of their own, and of that channel's events. Driven by the runner. */

export interface OthersPlan {
  readonly port: number;
  readonly redisUrl: string;
  readonly channelPrefix: string;
  readonly auctionId: number;
  readonly sockets: number;
  readonly eventsPerSecond: number;
  readonly query: string;
}

export interface OthersReport {
  /** From the publish of an event to its arrival, in ms, for each delivery since the report before. */
  readonly latencies: readonly number[];
  /** When each event was published, on the clock of `monotonicMs`. By its version, from `firstVersion` on. */
  readonly publishedAt: readonly number[];
  readonly firstVersion: number;
}

const FIRST_VERSION = 1_000_000;
/** What a subscribe may take. */
const SETTLE_MS = 500;

const publishedAt: number[] = [];
let latencies: number[] = [];
const lastOf: number[] = [];
const faults = new Set<string>();
let timer: NodeJS.Timeout | undefined;

async function start(plan: OthersPlan): Promise<void> {
  const { port, query, auctionId, sockets } = plan;
  const publisher: Publisher = await createPublisher({
    ...plan,
    kafkaBrokers: undefined,
    hasCoordinates: true,
    auctionIds: [auctionId],
  });
  const receivers = Array.from(
    { length: sockets },
    (_, i) =>
      new Receiver({
        port,
        payload: () => ({ query, variables: { auction_id: auctionId } }),
        onEvent: (version) => {
          const event = version - FIRST_VERSION;
          latencies.push(monotonicMs() - publishedAt[event]!);
          if (lastOf[i] !== undefined && event !== lastOf[i] + 1)
            faults.add(`a client got ${event} after ${lastOf[i]}`);
          lastOf[i] = event;
        },
        onFault: (fault) => faults.add(fault),
      }),
  );
  await openAll(receivers);
  for (const receiver of receivers) receiver.subscribe();
  await delay(SETTLE_MS);
  timer = setInterval(() => {
    publishedAt.push(monotonicMs());
    publisher.publish(0);
  }, 1000 / plan.eventsPerSecond);
}

function report(): OthersReport {
  const report = { latencies, publishedAt, firstVersion: FIRST_VERSION };
  latencies = [];
  return report;
}

/** Ends the events; the faults of all. */
async function stop(sockets: number): Promise<string[]> {
  clearInterval(timer);
  const last = publishedAt.length - 1;
  for (let tries = 0; tries < 100 && lastOf.some((event) => event !== last); tries++) await delay(20);
  const missing = sockets - lastOf.filter((event) => event === last).length;
  return [...faults, ...(missing > 0 ? [`${missing} of the others did not get the last event`] : [])];
}

answerCalls({ start, report, stop });
