import { setTimeout as delay } from 'node:timers/promises';
import { openMany, subscribe } from '../clients/graphql-socket.ts';
import { createPublisher } from '../clients/publisher.ts';
import { answerCalls } from '../processes/process-call.ts';
import { monotonicMs } from '../processes/process-usage.ts';
import { openReceiver } from './receiver.ts';

/** The process of the clients on another channel, whose latency is measured. It publishes their events. */

export interface OthersPlan {
  readonly port: number;
  readonly redisUrl: string;
  readonly channelPrefix: string;
  readonly auctionId: number;
  readonly sockets: number;
  readonly eventsPerSecond: number;
  readonly query: string;
}

export type OthersReport = ReturnType<typeof report>;

const FIRST_VERSION = 1_000_000;
/** Time for the subscriptions to become live. */
const SETTLE_MS = 500;

/** Publish time of each event by `monotonicMs`. Index 0 is version `firstVersion`. */
const publishedAt: number[] = [];
/** Time from publish to arrival in ms, for each delivery since the previous report. */
let latencies: number[] = [];
/** Last event of each client. */
const lastEvents: number[] = [];
const faults = new Set<string>();
let timer: NodeJS.Timeout | undefined;

async function start({ port, query, auctionId, sockets, eventsPerSecond, ...where }: OthersPlan): Promise<void> {
  const publisher = await createPublisher({ ...where, hasCoordinates: true, auctionIds: [auctionId] });
  const onEvent = (client: number, version: number) => {
    const event = version - FIRST_VERSION;
    const before = lastEvents[client];
    latencies.push(monotonicMs() - publishedAt[event]!);
    if (before !== undefined && event !== before + 1) faults.add(`a client got ${event} after ${before}`);
    lastEvents[client] = event;
  };
  const all = await openMany(sockets, (i) =>
    openReceiver(
      port,
      (version) => onEvent(i, version),
      (fault) => void faults.add(fault),
    ),
  );
  for (const socket of all) subscribe(socket, { query, variables: { auction_id: auctionId } });
  await delay(SETTLE_MS);
  timer = setInterval(() => {
    publishedAt.push(monotonicMs());
    publisher.publish(0);
  }, 1000 / eventsPerSecond);
}

function report() {
  const report = { latencies, publishedAt, firstVersion: FIRST_VERSION };
  latencies = [];
  return report;
}

/** Stops publishing and returns the faults of all clients. */
async function finish(sockets: number): Promise<string[]> {
  clearInterval(timer);
  const last = publishedAt.length - 1;
  for (let tries = 0; tries < 100 && lastEvents.some((event) => event !== last); tries++) await delay(20);
  const missing = sockets - lastEvents.filter((event) => event === last).length;
  return [...faults, ...(missing > 0 ? [`${missing} of the others did not get the last event`] : [])];
}

const methods = { start, report, finish };
export type OtherClients = typeof methods;
answerCalls(methods);
