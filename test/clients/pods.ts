import { rm, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import kafkajs from 'kafkajs';
import type { Producer } from 'kafkajs';
import { createServer } from '../../src/library/create-server.ts';
import type { Server } from '../../src/library/create-server.ts';
import { defineGraph } from '../../src/library/define-graph.ts';
import { freePorts } from '../../stack/port.ts';
import { startRedisServer } from '../../stack/redis-server.ts';
import { TcpProxy } from '../bus/redis/tcp-proxy.ts';
import { metricOf } from '../support/metric.ts';
import { randomName } from '../support/services.ts';
import type { Scope } from '../support/socket.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Access } from './client.ts';

const SECRET = 'of the tests, which is long enough for HS256';
/** How long crier accepts a token after its `exp`, in s. */
const TOLERANCE = 60;
const HOUR = 3600;
/** A port on which nothing listens. */
const NO_PORT = 1;
/** What the kernel keeps for a client that does not read, and more than crier does. */
const FLOOD = { records: 400, bytes: 60_000 };

/** A worker and a gateway behind a link that can be cut. The gateway can be replaced. */
export class Pods {
  readonly access: Access;
  readonly #startGateway: () => Promise<Server>;
  readonly #producer: Producer;
  readonly #topic: string;
  readonly #link: TcpProxy;
  #gateway: Server;

  private constructor(
    parts: { access: Access; startGateway: () => Promise<Server>; producer: Producer; topic: string; link: TcpProxy },
    gateway: Server,
  ) {
    this.access = parts.access;
    this.#startGateway = parts.startGateway;
    this.#producer = parts.producer;
    this.#topic = parts.topic;
    this.#link = parts.link;
    this.#gateway = gateway;
  }

  static async start(scope: Scope, kafkaBrokers: string): Promise<Pods> {
    const kafka = new kafkajs.Kafka({ brokers: [kafkaBrokers], logLevel: kafkajs.logLevel.NOTHING });
    const topic = randomName('orders');
    const admin = kafka.admin();
    await admin.connect();
    await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: true });
    await admin.disconnect();
    const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
    await producer.connect();
    scope.after(() => producer.disconnect());
    const redis = await startRedisServer();
    scope.after(() => redis.stop());
    const folder = await mkdtemp(join(tmpdir(), 'crier-clients-'));
    scope.after(() => rm(folder, { recursive: true }));
    const [pagePort] = (await freePorts(1)) as [number];
    const graph = defineGraph({
      schema: `
        type Subscription {
          order_updated(id: ID!): Order
            @kafka(topic: "${topic}", match: { arg: "id", path: "id" }, history: {}, tombstone: COMPLETE)
        }
        type Order { id: ID! status: String }`,
    });
    const options = {
      host: '127.0.0.1',
      port: 0,
      logLevel: 'silent',
      kafkaBrokers,
      kafkaGroupId: randomName('group'),
      kafkaDeadLetterTopic: randomName('dead'),
      redisUrl: redis.url,
      channelPrefix: randomName(),
      graph,
    } as const;
    const worker = await createServer({ ...options, role: 'worker' });
    scope.after(() => worker.close());
    const startGateway = () =>
      createServer({
        ...options,
        role: 'gateway',
        drainDelayMs: 0,
        drainSpreadMs: 0,
        jwtSecret: SECRET,
        jwtLocations: ['cookie:token'],
        allowedOrigins: [`http://127.0.0.1:${pagePort}`],
        auth: 'optional',
      });
    const gateway = await startGateway();
    const link = await TcpProxy.start(scope, Number(new URL(gateway.url!).port));
    const access = { tokenFile: join(folder, 'token'), pagePort };
    const pods = new Pods({ access, startGateway, producer, topic, link }, gateway);
    scope.after(() => pods.#gateway.close());
    await pods.writeToken();
    return pods;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#link.port}/graphql`;
  }

  /** Resolves when the gateway has this count of channels, each of which is of one subscription, or `isOver` is true. */
  channels(count: number, isOver: () => boolean = () => false): Promise<unknown> {
    const isSo = async () => isOver() || (await metricOf(this.#gateway.adminUrl, 'crier_channels')) === count;
    return waitFor(`${count} channels`, isSo, 60_000);
  }

  /** Publishes a status of an order. @param status null: a tombstone, which completes its subscription */
  async publish(id: string, status: string | null): Promise<void> {
    await this.#send([{ id, status }]);
  }

  /** The next connections have a token for so many seconds. */
  async writeToken(seconds = HOUR): Promise<void> {
    const token = new SignJWT({ sub: 'ida' }).setProtectedHeader({ alg: 'HS256' });
    const exp = Math.floor(Date.now() / 1000) + seconds - TOLERANCE;
    await writeFile(this.access.tokenFile, await token.setExpirationTime(exp).sign(Buffer.from(SECRET)));
  }

  /** The gateway drains; after it has ended another one starts. */
  async replaceGateway(): Promise<void> {
    this.#link.retarget(NO_PORT);
    await this.#gateway.close();
    this.#gateway = await this.#startGateway();
    this.#link.retarget(Number(new URL(this.#gateway.url!).port));
  }

  /** Cuts the connections, and accepts none for a time. */
  async cutNetwork(ms: number): Promise<void> {
    this.#link.retarget(NO_PORT);
    this.#link.cut();
    await new Promise((resolve) => setTimeout(resolve, ms));
    this.#link.retarget(Number(new URL(this.#gateway.url!).port));
  }

  /** The client's WebSocket receives a close frame with this code, as from crier. */
  closeSocket(code: number): void {
    this.#link.inject(Buffer.from([0x88, 2, code >> 8, code & 0xff]));
  }

  /** The client reads nothing until crier closes its connection as a slow consumer's. @param status of the flood, to which a filler is added */
  async flood(id: string, status: string): Promise<void> {
    const before = await metricOf(this.#gateway.adminUrl, 'crier_slow_consumers_total');
    this.#link.pause();
    const record = { id, status: status.padEnd(FLOOD.bytes, 'x') };
    for (let sent = 0; sent < FLOOD.records; sent += 10) await this.#send(Array<typeof record>(10).fill(record));
    const isClosed = async () => (await metricOf(this.#gateway.adminUrl, 'crier_slow_consumers_total')) > before;
    await waitFor('the close', isClosed, 30_000);
    this.#link.unpause();
  }

  async #send(orders: readonly { readonly id: string; readonly status: string | null }[]): Promise<void> {
    const messages = orders.map((order) => ({
      partition: 0,
      key: order.id,
      value: order.status === null ? null : JSON.stringify(order),
    }));
    await this.#producer.send({ topic: this.#topic, messages });
  }
}
