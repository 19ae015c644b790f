import { setTimeout as delay } from 'node:timers/promises';
import { monotonicMs } from '../monotonic.ts';
import { createPublisher } from '../fanout/client/publisher.ts';
import type { Publisher } from '../fanout/client/publisher.ts';
import { answerCalls } from '../processes/process-call.ts';
import { Receiver, openAll } from './receiver.ts';

/** The process of the clients on another channel, whose latency is measured. It publishes their events. bench:resume calls it. */

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
  /** Time from publish to arrival in ms, for each delivery since the previous report. */
  readonly latencies: readonly number[];
  /** Publish time of each event by `monotonicMs`. Index 0 is version `firstVersion`. */
  readonly publishedAt: readonly number[];
  readonly firstVersion: number;
}

const FIRST_VERSION = 1_000_000;
/** Time for the subscriptions to become live. */
const SETTLE_MS = 500;

const publishedAt: number[] = [];
let latencies: number[] = [];
/** Last event of each client. */
const lastEvents: number[] = [];
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
          if (lastEvents[i] !== undefined && event !== lastEvents[i] + 1)
            faults.add(`a client got ${event} after ${lastEvents[i]}`);
          lastEvents[i] = event;
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

/** Stops publishing and returns the faults of all clients. */
async function stop(sockets: number): Promise<string[]> {
  clearInterval(timer);
  const last = publishedAt.length - 1;
  for (let tries = 0; tries < 100 && lastEvents.some((event) => event !== last); tries++) await delay(20);
  const missing = sockets - lastEvents.filter((event) => event === last).length;
  return [...faults, ...(missing > 0 ? [`${missing} of the others did not get the last event`] : [])];
}

answerCalls({ start, report, stop });
