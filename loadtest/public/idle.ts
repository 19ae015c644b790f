import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { startRedisServer } from '../../stack/redis-server.ts';
import { freePorts } from '../../stack/port.ts';
import { auctionDocument } from '../fanout/auction.ts';
import { callProcess } from '../processes/process-call.ts';
import { startServerProcess, stopProcess } from '../processes/server-process.ts';
import { startArguments } from '../processes/start-arguments.ts';
import { AuctionHistory } from '../resume/history.ts';
import type { StormPlan, StormReport } from '../storm/arriving-clients.ts';

export interface IdleResult {
  readonly connections: number;
  readonly bytesEach: number;
  readonly residentMb: number;
  readonly connectMs: number;
  readonly faults: readonly string[];
}

const PREFIX = 'idle:';
const CONNECT_TIMEOUT_MS = 60_000;
const EVENT_TIMEOUT_MS = 30_000;

/** AnyCable's idle scenario, as far as the ports and files of one machine go: connections with one subscription to one stream. */
export async function idle(connections: number, say: (line: string) => void): Promise<IdleResult> {
  const closing: (() => Promise<unknown>)[] = [];
  try {
    const redis = await startRedisServer();
    closing.push(() => redis.stop());
    const [port, adminPort] = (await freePorts(2)) as [number, number];
    const environment = {
      ...{ ROLE: 'gateway', GRAPH: 'loadtest/graphs/fanout', REDIS_URL: redis.url },
      ...{ CHANNEL_PREFIX: PREFIX, ADMIN_PORT: String(adminPort) },
    };
    const script = new URL('../../src/main.js', import.meta.url).pathname;
    const server = await startServerProcess(script, port, environment, startArguments());
    closing.push(() => server.stop());
    const arrivals = [{ path: '/graphql', subscribe: subscribeMessage() }];
    const counted: number[] = [];
    const fleets: ChildProcess[] = [];
    let connectMs = 0;
    const faults: string[] = [];
    // The first clients warm the server up: what they add is code and caches, too.
    for (const sockets of [Math.ceil(connections / 10), connections]) {
      say(`idle: ${sockets} more clients connect`);
      const clients = fork(new URL('../storm/arriving-clients.js', import.meta.url).pathname, {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      });
      closing.push(() => stopProcess(clients));
      fleets.push(clients);
      const plan: StormPlan = { port, sockets, arrivals, timeoutMs: CONNECT_TIMEOUT_MS };
      const { subscribed, allMs } = await callProcess<StormReport>(clients, 'arrive', plan);
      if (subscribed < sockets) faults.push(`${sockets - subscribed} clients are not subscribed`);
      connectMs = allMs;
      counted.push(await server.keptBytes());
    }
    say('idle: one event for all');
    const history = new AuctionHistory(redis.url, PREFIX);
    await history.open();
    closing.push(() => history.close());
    await history.publish(1, 1);
    for (const clients of fleets) {
      const others = await callProcess<object>(clients, 'events', { count: 1, timeoutMs: EVENT_TIMEOUT_MS });
      if (Object.keys(others).length > 0) faults.push(`not one event for each: ${JSON.stringify(others)}`);
    }
    const bytesEach = (counted[1]! - counted[0]!) / connections;
    return { connections, connectMs, faults, bytesEach, residentMb: counted[1]! / 2 ** 20 };
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

function subscribeMessage(): string {
  const payload = { query: auctionDocument(), variables: { auction_id: 1 } };
  return JSON.stringify({ id: '1', type: 'subscribe', payload });
}
