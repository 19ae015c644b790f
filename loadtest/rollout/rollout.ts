import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { createTopics } from '../../stack/topics.ts';
import { graphFolder } from '../fanout/graph-variant.ts';
import type { FleetProcess } from '../market/clients/fleet-process.ts';
import type { FleetPlan, FleetReport } from '../market/clients/fleet-report.ts';
import { Market, PARTITIONS, TOPICS } from '../market/load/market.ts';
import { openPaths } from '../market/load/open-paths.ts';
import { MarketProducer } from '../market/load/producer.ts';
import { Schedule } from '../market/load/schedule.ts';
import type { BalancerProcess } from '../market/pods/balancer-process.ts';
import { groupOf } from '../processes/consumer-group.ts';
import { startRemote } from '../processes/process-call.ts';
import type { Remote } from '../processes/process-call.ts';
import type { ServerProcess } from '../processes/server-process.ts';
import type { Scope } from '../runner/scope.ts';
import { crierPod, startPod } from '../story/pods/pod.ts';
import type { Pod } from '../story/pods/pod.ts';

const GRAPH = 'loadtest/graphs/scenarios';
const READINESS_POLL_MS = 20;
const WARM_UP_SECONDS = 3;
/** Length of one schedule of a steady load, so that `settle` waits for a second at most. */
const SCHEDULE_SECONDS = 1;

export interface RolloutOptions extends Omit<FleetPlan, 'port' | 'channelPrefix'> {
  readonly kafkaBrokers: string;
  readonly recordsPerSecond: number;
  readonly signal: AbortSignal;
}

/** ms since 1970, with fractions. */
export const clock = (): number => performance.timeOrigin + performance.now();

/** Pods of the scenarios' graph with clients and a load that a ledger checks. Its processes end with the scope. */
export class Rollout {
  readonly market: Market;
  readonly fleet: Remote<FleetProcess>;
  readonly #options: RolloutOptions;
  readonly #scope: Pick<Scope, 'after'>;
  readonly #name = `rollout-${randomBytes(4).toString('hex')}`;
  readonly #producer: MarketProducer;
  readonly #balancer: Remote<BalancerProcess>;
  #isOn = false;
  #load: Promise<void> | undefined;
  #graph = '';

  constructor(options: RolloutOptions, scope: Pick<Scope, 'after'>) {
    this.#options = options;
    this.#scope = scope;
    this.market = new Market(options);
    this.#producer = new MarketProducer(options.kafkaBrokers);
    this.fleet = startRemote<FleetProcess>('market/clients/fleet-process.js', scope);
    this.#balancer = startRemote<BalancerProcess>('market/pods/balancer-process.js', scope);
    scope.after(async () => {
      await this.#stopLoad().catch(() => undefined);
      await this.#producer.close().catch(() => undefined);
    });
  }

  /** Creates topics and clients. */
  async start(): Promise<void> {
    const { kafkaBrokers } = this.#options;
    const schema = await readFile(`${GRAPH}/schema.graphql`, 'utf8');
    const files = { 'schema.graphql': schema.replaceAll('@kafka(', '@kafka(history: {}, ') };
    this.#graph = await graphFolder(files, this.#scope);
    await createTopics(kafkaBrokers, [
      ...TOPICS.map(({ name }) => ({ topic: name, numPartitions: PARTITIONS })),
      { topic: 'crier-dead-letter', numPartitions: 1 },
    ]);
    await this.#producer.start();
    const port = await this.#balancer.start();
    await this.fleet.prepare({ ...this.#options, channelPrefix: `${this.#name}:`, port });
  }

  /** Resolves when the pod listens; with a worker, when it is one of `workers` members of the consumer group. */
  async startPod(role: 'worker' | 'gateway', pod: Partial<Pod> = {}, workers = 1): Promise<ServerProcess> {
    const { kafkaBrokers, redisUrl, signal } = this.#options;
    signal.throwIfAborted();
    const environment = { ...pod.environment, ROLE: role, GRAPH: this.#graph };
    const started = await startPod(
      { ...crierPod, ...pod, isWorkerOnly: role === 'worker', environment },
      { kafkaBrokers, redisUrl, group: this.#name, channelPrefix: `${this.#name}:` },
      this.#scope,
    );
    if (role === 'worker') await this.hasWorkers(workers);
    return started;
  }

  /** Resolves when the consumer group is stable with this number of members. */
  hasWorkers(count: number): Promise<void> {
    return groupOf(this.#options.kafkaBrokers, this.#name, count, this.#options.signal);
  }

  /** New connections go to these pods. */
  route(...pods: readonly ServerProcess[]): Promise<void> {
    return this.#balancer.target(pods.map(({ port }) => port));
  }

  /** Connects all clients. Resolves when each subscription has received an event. */
  async connect(): Promise<void> {
    const { stock, resuming, signal } = this.#options;
    const { market, fleet } = this;
    await fleet.connect();
    await openPaths({ market, producer: this.#producer, fleet, clients: stock + resuming, signal });
  }

  /** Starts the load, after a warm-up, and with it the ledger. */
  async begin(): Promise<void> {
    await this.#write(clock(), WARM_UP_SECONDS);
    await this.fleet.begin({ from: this.market.sequences, startsAt: clock() });
    this.#isOn = true;
    const run = async () => {
      // The schedules follow each other without a gap, so a late record keeps its time.
      for (let at = clock(); this.#isOn; at += SCHEDULE_SECONDS * 1000) await this.#write(at, SCHEDULE_SECONDS);
    };
    this.#load = run();
    // `settle` reports it.
    this.#load.catch(() => undefined);
  }

  /**
   * Sends SIGTERM, and takes the pod out of the balancer when /readyz is first not 200. Resolves when it has ended, with the times in ms
   * since 1970 and the exit code or signal.
   */
  async drain(pod: ServerProcess, ...others: readonly ServerProcess[]) {
    const signalledAt = clock();
    process.kill(pod.pid, 'SIGTERM');
    while (await pod.isReady()) await delay(READINESS_POLL_MS);
    const unreadyAt = clock();
    await this.route(...others);
    const ending = await pod.ended;
    return { signalledAt, unreadyAt, endedAt: clock(), ending };
  }

  /** Resolves when every client is connected, or after `patienceMs`. */
  async allBack(patienceMs: number): Promise<void> {
    const { stock, resuming, signal } = this.#options;
    const deadline = performance.now() + patienceMs;
    while ((await this.fleet.progress()).ready < stock + resuming && performance.now() < deadline) {
      await delay(100, undefined, { signal });
    }
  }

  /** Ends the load. Resolves with what the clients received when all of it has arrived, or nothing arrives any more. */
  async settle(): Promise<FleetReport> {
    await this.#stopLoad();
    return this.fleet.settle(this.market.sequences);
  }

  async #stopLoad(): Promise<void> {
    this.#isOn = false;
    await this.#load;
  }

  async #write(startsAt: number, seconds: number): Promise<void> {
    const { recordsPerSecond, signal } = this.#options;
    await this.#producer.run(new Schedule(startsAt, recordsPerSecond, seconds), this.market, signal);
  }
}
