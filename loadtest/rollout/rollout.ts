import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createTopics } from '../../stack/topics.ts';
import { stableMembers } from '../../test/end-to-end/producers.ts';
import { startFleet } from '../scenarios/clients/fleet-calls.ts';
import type { Fleet, FleetReport } from '../scenarios/clients/fleet-calls.ts';
import { Market, PARTITIONS, TOPICS } from '../scenarios/load/market.ts';
import { openPaths } from '../scenarios/load/open-paths.ts';
import { MarketProducer } from '../scenarios/load/producer.ts';
import { startBalancer } from '../scenarios/pods/balancer-calls.ts';
import { startPod } from '../story/pods/pod-process.ts';
import type { PodProcess } from '../story/pods/pod-process.ts';
import { crierPod } from '../story/pods/pod.ts';
import type { Pod } from '../story/pods/pod.ts';
import { SteadyLoad } from './steady-load.ts';

const GRAPH = 'loadtest/graphs/scenarios/schema.graphql';
const GROUP_TIMEOUT_MS = 60_000;
const READINESS_POLL_MS = 20;

export interface RolloutOptions {
  readonly kafkaBrokers: string;
  readonly redisUrl: string;
  readonly seed: number;
  readonly auctions: number;
  readonly zipfExponent: number;
  readonly recordsPerSecond: number;
  /** Stock graphql-ws clients. */
  readonly stock: number;
  /** Clients of @crier/client. */
  readonly resuming: number;
  readonly signal: AbortSignal;
}

/** Times of a drain, in ms since 1970. */
export interface DrainTimes {
  readonly signalledAt: number;
  /** When /readyz was first not 200. */
  readonly unreadyAt: number;
  readonly endedAt: number;
  /** Exit code or signal. */
  readonly ending: number | NodeJS.Signals;
}

/** ms since 1970, with fractions. */
export const clock = (): number => performance.timeOrigin + performance.now();

/** Pods of the scenarios' graph whose fields all have a history, behind a balancer, with clients and a load that a ledger checks. */
export class Rollout {
  readonly #options: RolloutOptions;
  readonly #name = `rollout-${randomBytes(4).toString('hex')}`;
  readonly #market: Market;
  readonly #producer: MarketProducer;
  readonly #load: SteadyLoad;
  readonly #fleet = startFleet();
  readonly #balancer = startBalancer();
  readonly #pods: PodProcess[] = [];
  #graph = '';

  constructor(options: RolloutOptions) {
    this.#options = options;
    this.#market = new Market(options);
    this.#producer = new MarketProducer(options.kafkaBrokers);
    this.#load = new SteadyLoad(this.#producer, this.#market, options);
  }

  get fleet(): Pick<Fleet, 'progress' | 'closings'> {
    return this.#fleet;
  }

  /** Creates topics and clients. */
  async start(): Promise<void> {
    const { kafkaBrokers, redisUrl, stock, resuming } = this.#options;
    this.#graph = await mkdtemp(join(tmpdir(), 'rollout-'));
    const schema = await readFile(GRAPH, 'utf8');
    await writeFile(join(this.#graph, 'schema.graphql'), schema.replaceAll('@kafka(', '@kafka(history: {}, '));
    await createTopics(kafkaBrokers, [
      ...TOPICS.map(({ name }) => ({ topic: name, numPartitions: PARTITIONS })),
      { topic: 'crier-dead-letter', numPartitions: 1 },
    ]);
    await this.#producer.start();
    await this.#fleet.prepare({
      ...this.#options,
      ...{ clients: stock, stock, resuming, slow: 0, subscriptionsPerClient: 1 },
      ...{ redisUrl, channelPrefix: `${this.#name}:` },
      port: await this.#balancer.start(),
    });
  }

  /** Resolves when the pod listens; a worker, when it is one of `workers` members of the consumer group. */
  async startPod(role: 'worker' | 'gateway', pod: Partial<Pod>, workers = 1): Promise<PodProcess> {
    const { kafkaBrokers, redisUrl, signal } = this.#options;
    signal.throwIfAborted();
    const environment = { ...pod.environment, ROLE: role, GRAPH: this.#graph };
    const started = await startPod(
      { ...crierPod, name: role, ...pod, isWorkerOnly: role === 'worker', environment },
      { kafkaBrokers, redisUrl, group: this.#name, channelPrefix: `${this.#name}:` },
    );
    this.#pods.push(started);
    if (role === 'worker') await this.hasWorkers(workers);
    return started;
  }

  /** Resolves when the consumer group is stable with this number of members. */
  async hasWorkers(count: number): Promise<void> {
    const { kafkaBrokers, signal } = this.#options;
    const deadline = performance.now() + GROUP_TIMEOUT_MS;
    while ((await stableMembers(kafkaBrokers, this.#name)) !== count) {
      if (performance.now() > deadline) throw new Error(`no stable group of ${count} in ${GROUP_TIMEOUT_MS} ms`);
      await delay(100, undefined, { signal });
    }
  }

  /** New connections go to these pods. */
  route(...pods: readonly PodProcess[]): Promise<void> {
    return this.#balancer.target(pods.map(({ port }) => port));
  }

  /** Connects all clients. Resolves when each subscription has received an event. */
  async connect(): Promise<void> {
    const { stock, resuming, signal } = this.#options;
    await this.#fleet.connect({ atOnce: false });
    const clients = stock + resuming;
    await openPaths({ market: this.#market, producer: this.#producer, fleet: this.#fleet, clients, signal });
  }

  /** Starts the load, after a warm-up, and with it the ledger. */
  async begin(): Promise<void> {
    await this.#load.warmUp();
    await this.#fleet.begin({ from: this.#market.sequences, startsAt: clock(), isConfirmed: true });
    this.#load.start();
  }

  /** Sends SIGTERM, and takes the pod out of the balancer when it is no longer ready. Resolves when it has ended. */
  async drain(pod: PodProcess, ...others: readonly PodProcess[]): Promise<DrainTimes> {
    const signalledAt = clock();
    process.kill(pod.pid, 'SIGTERM');
    while (await isReady(pod)) await delay(READINESS_POLL_MS);
    const unreadyAt = clock();
    await this.route(...others);
    const ending = await pod.ended;
    return { signalledAt, unreadyAt, endedAt: clock(), ending };
  }

  /** Resolves when every client is connected, or after `patienceMs`. */
  async allBack(patienceMs: number): Promise<void> {
    const { stock, resuming, signal } = this.#options;
    const deadline = performance.now() + patienceMs;
    while ((await this.#fleet.progress()).ready < stock + resuming && performance.now() < deadline) {
      await delay(100, undefined, { signal });
    }
  }

  /** Ends the load. Resolves with what the clients received when all of it has arrived, or nothing arrives any more. */
  async settle(): Promise<FleetReport> {
    await this.#load.stop();
    return this.#fleet.settle({ to: this.#market.sequences });
  }

  /** Ends all processes. Idempotent. */
  async close(): Promise<void> {
    await this.#load.stop().catch(() => undefined);
    await this.#producer.close().catch(() => undefined);
    await Promise.all([this.#fleet.stop(), this.#balancer.stop()]);
    await Promise.all(this.#pods.map((pod) => pod.stop()));
    if (this.#graph !== '') await rm(this.#graph, { recursive: true, force: true });
  }
}

function isReady({ adminPort }: PodProcess): Promise<boolean> {
  return fetch(`http://127.0.0.1:${adminPort}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}
