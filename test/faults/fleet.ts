import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { HISTORY_DEFAULTS } from '../../src/bus/history.ts';
import type { HistoryLimits } from '../../src/bus/history.ts';
import { spawnPod } from '../end-to-end/pod-process.ts';
import type { PodProcess } from '../end-to-end/pod-process.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { ENTRY_TYPES } from '../support/entry-record.ts';
import { randomName } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';
import { Balancer } from './balancer.ts';
import { LedgerPublisher } from './ledger-publisher.ts';
import { Listener } from './listener.ts';
import type { ListenerOptions } from './listener.ts';

/** A hanging test fails after this time and names what is missing. */
const PATIENCE_MS = 120_000;
const METRICS_INTERVAL_MS = 250;

export interface FleetOptions {
  readonly gateways: number;
  readonly lanes: number;
  /** URL of the publisher's Redis. */
  readonly redisUrl: string;
  /** URL of the gateways' Redis. Default: the same. */
  readonly gatewayRedisUrl?: string;
  readonly history?: Partial<HistoryLimits>;
  /** Further settings of the gateways. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Gateway processes behind one address, their Redis, and a ledger that is published to it. */
export class Fleet {
  readonly pods: PodProcess[];
  readonly lanes: readonly string[];
  readonly balancer: Balancer;
  readonly publisher: LedgerPublisher;
  readonly #t: TestContext;
  readonly #settings: Readonly<Record<string, string>>;

  private constructor(
    t: TestContext,
    settings: Readonly<Record<string, string>>,
    parts: Pick<Fleet, 'pods' | 'lanes' | 'balancer' | 'publisher'>,
  ) {
    this.#t = t;
    this.#settings = settings;
    this.pods = parts.pods;
    this.lanes = parts.lanes;
    this.balancer = parts.balancer;
    this.publisher = parts.publisher;
  }

  static async start(t: TestContext, options: FleetOptions): Promise<Fleet> {
    const name = randomName('fleet');
    const prefix = `${name}:`;
    const history = { ...HISTORY_DEFAULTS, ...options.history };
    const settings = {
      ROLE: 'gateway',
      GRAPH: await graphFolder(t, { 'schema.graphql': schemaOf(name, history) }),
      REDIS_URL: options.gatewayRedisUrl ?? options.redisUrl,
      // Never connected to by a gateway.
      KAFKA_BROKERS: '127.0.0.1:1',
      CHANNEL_PREFIX: prefix,
      GRAPHIQL: 'false',
      ...options.settings,
    };
    const lanes = Array.from({ length: options.lanes }, (_, i) => `lane ${i}`);
    const pods = Array.from({ length: options.gateways }, () => spawnPod(t, settings));
    await Promise.all(pods.map((pod) => pod.started()));
    const balancer = await Balancer.start(t, pods.map(portOf));
    const { redisUrl } = options;
    const publisher = await LedgerPublisher.start(t, { redisUrl, prefix, topic: name, lanes, history });
    return new Fleet(t, settings, { pods, lanes, balancer, publisher });
  }

  /** Starts one more pod in the rotation. */
  async addPod(): Promise<PodProcess> {
    const pod = spawnPod(this.#t, this.#settings);
    await pod.started();
    this.pods.push(pod);
    this.balancer.add(portOf(pod));
    return pod;
  }

  /** Removes this pod from the rotation. */
  retire(pod: PodProcess): void {
    this.balancer.remove(portOf(pod));
    this.pods.splice(this.pods.indexOf(pod), 1);
  }

  /** `count` live clients with `lanesEach` lanes each. */
  async listen(
    count: number,
    options: Pick<ListenerOptions, 'kind' | 'client'> & { readonly lanesEach?: number },
  ): Promise<Listener[]> {
    const { lanesEach = 1, ...rest } = options;
    const url = `ws://127.0.0.1:${this.balancer.port}/graphql`;
    const before = await this.operations();
    const listeners = Array.from({ length: count }, (_, i) => {
      const lanes = Array.from({ length: lanesEach }, (_, j) => this.lanes[(i + j) % this.lanes.length]!);
      return new Listener(this.#t, { ...rest, url, lanes });
    });
    await this.until('every subscription', async () => (await this.operations()) === before + count * lanesEach);
    return listeners;
  }

  /** Live subscriptions on all pods; NaN if a pod does not answer. Polled slowly, because metrics cost a busy pod time. */
  async operations(): Promise<number> {
    await delay(METRICS_INTERVAL_MS);
    const counts = await Promise.all(this.pods.map((pod) => pod.metric('crier_operations').catch(() => NaN)));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Ends the ledger with one entry per lane, and waits until each listener has received it in all of its lanes. */
  async finish(listeners: readonly Listener[]): Promise<void> {
    const { publisher } = this;
    publisher.stop();
    publisher.round();
    await this.until('Redis to have all', () => publisher.isIdle);
    const end = lastOfLanes(publisher);
    const hasEnd = (listener: Listener) =>
      listener.lanes.every(
        (lane) => listener.heard.findLast(({ entry }) => entry.lane === lane)?.entry.sequence === end.get(lane),
      );
    await waitFor('the end at every listener', () => listeners.every(hasEnd), PATIENCE_MS).catch(() => undefined);
  }

  /** @throws Error with the tails of all pods' logs when the condition is not met in two minutes. */
  async until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
    await waitFor(what, condition, PATIENCE_MS).catch((error: Error) => {
      throw new Error([error.message, ...this.pods.map(({ log }) => log.slice(-4000))].join('\n'));
    });
  }
}

function lastOfLanes({ written }: LedgerPublisher): ReadonlyMap<string, number> {
  return new Map(written.map(({ lane, sequence }) => [lane, sequence]));
}

export function portOf(pod: PodProcess): number {
  return Number(new URL(pod.url).port);
}

function schemaOf(topic: string, { entries, bytes, seconds }: HistoryLimits): string {
  return `type Subscription {
  entry_written(lane: ID!): Event
    @kafka(
      topic: "${topic}"
      match: [{ arg: "lane", path: "lane" }]
      history: { entries: ${entries}, bytes: ${bytes}, seconds: ${seconds} }
    )
}

type Event {
  lane: ID!
  ledger_entry: Entry!
}

${ENTRY_TYPES}
`;
}
