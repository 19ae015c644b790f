import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { RedisServer } from '../../../stack/redis-server.ts';
import type { HistoryLimits } from '../../../src/bus/history.ts';
import { RedisBus } from '../../../src/bus/redis/redis-bus.ts';
import { BusUnavailableError, FencedError } from '../../../src/base/errors.ts';
import { createLog } from '../../../src/base/log.ts';
import { startServer } from '../../../src/server.ts';
import { graphFolder } from '../../graph/support/graph-folder.ts';
import { metricOf } from '../../support/metric.ts';
import { randomName, redisServer } from '../../support/services.ts';
import { openSocket } from '../../support/socket.ts';
import type { Socket } from '../../support/socket.ts';
import { testConfig } from '../../support/switches.ts';
import { waitFor } from '../../support/wait-for.ts';

const log = createLog('silent');

/** Enough for a pod on a busy machine to reconnect to Redis. */
const PATIENCE_MS = 30_000;

/** Publishes for one partition of one topic as a worker does, without Kafka: retries until the bus has accepted the payload. */
export class TestWorker {
  readonly #bus: RedisBus;
  readonly #prefix: string;
  #next = 0;
  #hasLease = false;

  constructor(bus: RedisBus, prefix: string) {
    this.#bus = bus;
    this.#prefix = prefix;
  }

  /** `channel`: without the prefix. */
  async publish(channel: string, payload: object, history?: HistoryLimits): Promise<void> {
    const offset = this.#next++;
    const position = { topic: 'things', partition: 0, offset };
    const text = JSON.stringify(payload);
    const messages = [{ channel: `${this.#prefix}${channel}`, payload: text, offset, timestamp: 0, history }];
    for (;;) {
      try {
        const lease = { topic: 'things', partition: 0, position: offset - 1 };
        if (!this.#hasLease) await this.#bus.acquire(lease);
        this.#hasLease = true;
        return await this.#bus.publish(messages, position);
      } catch (error) {
        if (error instanceof FencedError) this.#hasLease = false;
        else if (error instanceof BusUnavailableError) await delay(50);
        else throw error;
      }
    }
  }
}

export interface RedisGatewayOptions {
  /** Files of the graph. */
  readonly graph: Readonly<Record<string, string>>;
  /** Default: a new one. */
  readonly redis?: RedisServer;
}

export interface GatewayOptions extends RedisGatewayOptions {
  readonly settings?: Readonly<Record<string, string>>;
}

/** A gateway in this process, on a Redis. */
export async function startGateway(t: TestContext, { graph, redis, settings }: GatewayOptions) {
  redis ??= await redisServer(t);
  const prefix = `${randomName()}:`;
  const config = testConfig({
    ROLE: 'gateway',
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    REDIS_URL: redis.url,
    CHANNEL_PREFIX: prefix,
    GRAPH: await graphFolder(t, graph),
    ...settings,
  });
  const server = await startServer(config, log, { onFatal: (error) => assert.fail(error) });
  t.after(() => server.close());
  return { server, redis, prefix };
}

/** A gateway in this process, a Redis, and a publisher for the test. */
export async function startRedisGateway(t: TestContext, options: GatewayOptions) {
  const { server, redis, prefix } = await startGateway(t, options);
  const bus = new RedisBus({ url: redis.url, prefix, log });
  t.after(() => bus.close());
  await bus.start();
  const admin = new Redis(redis.url, { retryStrategy: () => 50 });
  admin.on('error', () => undefined);
  t.after(() => admin.disconnect());
  const url = `ws://127.0.0.1:${server.port}/graphql`;
  const metric = (name: string) => metricOf(`http://127.0.0.1:${server.adminPort}`, name);
  return {
    redis,
    server,
    worker: new TestWorker(bus, prefix),
    url,
    adminUrl: `http://127.0.0.1:${server.adminPort}`,
    /** Of the endpoint, over HTTP. */
    endpoint: `http://127.0.0.1:${server.port}/graphql`,
    connect: async (): Promise<Socket> => {
      const socket = await openSocket(t, url, { patienceMs: PATIENCE_MS });
      await socket.init();
      return socket;
    },
    /** Resolves when the gateway has subscribed to a channel (without the prefix) or, with `isThere: false`, has left it. */
    hasChannel: async (channel: string, isThere = true) => {
      await waitFor(
        `channel ${channel}`,
        async () => (await admin.pubsub('NUMSUB', `${prefix}${channel}`).catch(() => []))[1] === Number(isThere),
        PATIENCE_MS,
      );
      // Redis has sent the acknowledgement, but the gateway, in this process, may read it later in this turn.
      await nextTurn();
    },
    /** A value of `/metrics`; 0 if it is absent. `name` includes the labels. */
    metric,
    /** Resolves when that value is at least `count`. */
    counts: async (name: string, count: number) =>
      void (await waitFor(`${name} ${count}`, async () => (await metric(name)) >= count, PATIENCE_MS)),
  };
}
