import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import type { RedisServer } from '../../../../stack/redis-server.ts';
import type { Pod } from '../../../end-to-end/pod.ts';
import { spawnPod } from '../../../end-to-end/pod-process.ts';
import { graphFolder } from '../../../graph/support/graph-folder.ts';
import type { Outside } from '../../../kafka/consumer-harness.ts';
import { redisServer } from '../../../support/services.ts';
import { openSocket } from '../../../support/socket.ts';
import type { Socket } from '../../../support/socket.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { seriesOf } from '../series.ts';

/** A faulty Redis or Kafka is noticed within seconds; the machine may be busy. */
const PATIENCE_MS = 60_000;

const graph = (topic: string, missingTopic: string) => ({
  'schema.graphql': `
    type Query { hello: String fails: String asks: String }
    type Subscription {
      thing(id: ID!): Thing @kafka(topic: "${topic}", match: [{ arg: "id", path: "thing.id" }], payload: "thing", history: {})
      any_thing: Thing @kafka(topic: "${topic}", payload: "thing")
      paced_thing: Thing @kafka(topic: "${topic}", payload: "thing", pace: { ms: 2000 })
      late_thing: Thing @kafka(topic: "${missingTopic}", payload: "thing")
      own_source: Int
      news: Int
    }
    type Thing { id: ID count: Int text: String asked: String }
  `,
  'resolvers.js': `
    const ask = async (_source, _args, { backends }) => (await backends.shop.get('/')).name;
    export const Thing = { asked: ask };
    export const Query = {
      hello: () => 'world',
      fails: () => { throw new Error('of this test'); },
      asks: ask,
    };
    export const Subscription = {
      own_source: { subscribe: () => new ReadableStream() },
      news: { subscribe: (_source, _args, { pubsub }) => pubsub.asyncIterableIterator('NEWS') },
    };
  `,
  'context.js': `
    export const backends = ['shop'];
    export async function authenticate({ params: { auth, user } }) {
      if (auth === 'deny') return false;
      if (auth === 'throw') throw new Error('of this test');
      if (auth === 'claims') return () => 1;
      if (auth === 'hang') return new Promise(() => {});
      return { user };
    }
  `,
});

/** Settings of another pod on the stage's Kafka and Redis, which shares no group and no channel with the stage's. */
export const apart = (stage: Stage, name: string) => ({
  ...stage.settings,
  KAFKA_GROUP_ID: `${stage.topic}-${name}`,
  CHANNEL_PREFIX: `${stage.topic}-${name}:`,
});

/** One pod of role all on a real Kafka and a Redis of its own. */
export class Stage {
  readonly pod: Pod;
  readonly outside: Outside;
  readonly redis: RedisServer;
  /** Of two partitions. */
  readonly topic: string;
  /** The backend `shop`. It answers nothing by itself. */
  readonly shop: Server;
  /** Does not exist at first. */
  readonly missingTopic: string;
  readonly settings: Readonly<Record<string, string>>;

  private constructor(
    parts: Pick<Stage, 'pod' | 'outside' | 'redis' | 'topic' | 'missingTopic' | 'settings' | 'shop'>,
  ) {
    this.pod = parts.pod;
    this.outside = parts.outside;
    this.redis = parts.redis;
    this.topic = parts.topic;
    this.shop = parts.shop;
    this.missingTopic = parts.missingTopic;
    this.settings = parts.settings;
  }

  static async start(t: TestContext, outside: Outside): Promise<Stage> {
    const topic = await outside.createTopic(undefined, 2);
    const missingTopic = `${topic}-missing`;
    const redis = await redisServer(t);
    const shop = createServer().listen(0, '127.0.0.1');
    await once(shop, 'listening');
    t.after(() => {
      shop.closeAllConnections();
      shop.close();
    });
    const settings = {
      GRAPH: await graphFolder(t, graph(topic, missingTopic)),
      KAFKA_BROKERS: outside.brokers,
      KAFKA_GROUP_ID: topic,
      KAFKA_DEAD_LETTER_TOPIC: `${topic}-dead`,
      REDIS_URL: redis.url,
      BACKEND_SHOP_URL: `http://127.0.0.1:${(shop.address() as AddressInfo).port}`,
      CHANNEL_PREFIX: `${topic}:`,
      ALLOWED_ORIGINS: 'https://allowed.example',
      MAX_QUEUE_BYTES: '65536',
      COMPRESSION: 'on',
    };
    const pod = await spawnPod(t, settings).started();
    await pod.reports({ kafka: 'connected' });
    return new Stage({ pod, outside, redis, topic, missingTopic, settings, shop });
  }

  /** An initialised connection, closed at the end of the test. */
  async connect(t: TestContext, params?: object): Promise<Socket> {
    const socket = await openSocket(t, this.pod.url, { patienceMs: PATIENCE_MS });
    await socket.init(params);
    return socket;
  }

  /** A connection with a live subscription `1` of a channel. */
  async subscribe(t: TestContext, query: string, channel: string): Promise<Socket> {
    const socket = await this.connect(t);
    socket.subscribe('1', query);
    await socket.roundTrip();
    await this.#channel(channel);
    return socket;
  }

  /** Writes records to partition 0. */
  async send(...values: (string | Buffer | null)[]): Promise<void> {
    await this.outside.sendValues(this.topic, values);
  }

  /** All series of the pod; a NaN is a value, an absent series is not there. */
  series(): Promise<ReadonlyMap<string, number>> {
    return seriesOf(this.pod.admin);
  }

  /** A value, 0 if its series is absent. */
  async value(series: string): Promise<number> {
    return (await this.series()).get(series) ?? 0;
  }

  /** Resolves when a series has a value; undefined: when it is absent. */
  async has(series: string, value: number | undefined): Promise<void> {
    await this.pod.until(`${series} ${value}`, async () => Object.is((await this.series()).get(series), value));
  }

  /** Runs an action, waits until each series has moved at least by its number, and checks that it did not move by more. */
  async moves(expected: Readonly<Record<string, number>>, action: () => unknown): Promise<void> {
    const names = Object.keys(expected);
    const before = await this.series();
    await action();
    const moved = async () => {
      const now = await this.series();
      return Object.fromEntries(names.map((name) => [name, (now.get(name) ?? 0) - (before.get(name) ?? 0)]));
    };
    const haveMoved = async () => {
      const deltas = await moved();
      return names.every((name) =>
        expected[name]! < 0 ? deltas[name]! <= expected[name]! : deltas[name]! >= expected[name]!,
      );
    };
    await waitFor(`${JSON.stringify(expected)}`, haveMoved, PATIENCE_MS).catch(async (error: Error) => {
      throw new Error(`${error.message}, moved ${JSON.stringify(await moved())}\n${this.pod.log}`);
    });
    assert.deepEqual(await moved(), expected);
  }

  /** Runs an action and waits until each series has moved by any number. */
  async grows(names: readonly string[], action: () => unknown): Promise<void> {
    const before = await this.series();
    await action();
    for (const name of names) {
      const value = before.get(name) ?? 0;
      await this.pod.until(`more ${name}`, async () => (await this.value(name)) > value);
    }
  }

  async #channel(name: string): Promise<void> {
    const { Redis } = await import('ioredis');
    const client = new Redis(this.redis.url);
    const count = async () => ((await client.pubsub('NUMSUB', `${this.topic}:${name}`)) as [string, number])[1];
    await waitFor(`channel ${name}`, async () => (await count()) === 1, PATIENCE_MS).finally(() => client.disconnect());
  }
}
