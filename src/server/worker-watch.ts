import type { Shared } from '../bus/shared.ts';
import { Periodic } from '../kafka/periodic.ts';
import type { SettingNames } from '../config/setting-names.ts';
import type { Logger } from '../base/log.ts';
import type { Metrics } from '../ops/metrics/metrics.ts';
import { GROUP_LOCK } from './group-lock.ts';

const INTERVAL_MS = 10_000;
/** Looks in sequence that find no worker before that is logged: while the workers are replaced there is none for a moment. */
const PATIENCE = 3;

export interface WorkerWatchOptions {
  readonly bus: Pick<Shared, 'lockOf'>;
  readonly log: Logger;
  readonly names: SettingNames;
  readonly metrics: Metrics;
  /** Messages of workers that have reached this gateway, in total. */
  readonly messages: () => number;
  /** Default: 10 s. */
  readonly intervalMs?: number;
}

/**
 * Tells a gateway whether workers publish for it. If there are none although workers run, the Redis settings of the pods differ: nothing
 * else would say so, for a gateway without events looks healthy.
 */
export class WorkerWatch {
  readonly #options: WorkerWatchOptions;
  readonly #periodic: Periodic;
  #group: string | undefined;
  #misses = 0;
  /** At the last look. */
  #messages = 0;

  constructor(options: WorkerWatchOptions) {
    this.#options = options;
    this.#periodic = new Periodic(options.intervalMs ?? INTERVAL_MS, () => this.#look());
    options.metrics.gauge(
      'crier_gateway_without_workers',
      '1 while no worker publishes for this gateway, else 0.',
      () => (this.isAlone ? 1 : 0),
      'max',
    );
  }

  /** The consumer group whose workers publish for this gateway; undefined: none do, or the bus has not said yet. */
  get group(): string | undefined {
    return this.#group;
  }

  /** True if no worker publishes for this gateway, for about 30 s. */
  get isAlone(): boolean {
    return this.#misses >= PATIENCE;
  }

  start(): void {
    this.#periodic.start();
  }

  /** Idempotent. */
  close(): Promise<void> {
    this.#periodic.close();
    return Promise.resolve();
  }

  async #look(): Promise<void> {
    // The bus logs its own outage.
    const lock = await this.#options.bus.lockOf(GROUP_LOCK).catch(() => 'away' as const);
    if (lock === 'away') return;
    const wasAlone = this.isAlone;
    this.#group = lock?.holder;
    // Workers of a version before locks are known by their messages only.
    const messages = this.#options.messages();
    this.#misses = lock || messages > this.#messages ? 0 : this.#misses + 1;
    this.#messages = messages;
    if (this.isAlone === wasAlone) return;
    const { log, names } = this.#options;
    if (wasAlone) log.info({ groupId: this.#group }, 'a worker publishes for this gateway again');
    else
      log.warn(
        `no worker publishes for this gateway: start one, or give workers and gateways the same ${names.REDIS_URL} and ${names.CHANNEL_PREFIX}`,
      );
  }
}
