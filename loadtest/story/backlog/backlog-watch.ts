import type { LatencySummary } from '../../runner/latency.ts';
import { Ages } from './ages.ts';
import type { Remote } from '../../processes/process-call.ts';
import type { StoryClient } from '../client/client.ts';
import { MemoryWatch } from './memory-watch.ts';
import type { RunningPods } from '../pods/running-pods.ts';
import { PublishWatch } from './publish-watch.ts';
import type { BacklogSample } from '../result.ts';
import type { TopicEnd } from '../flood/topic.ts';

export interface BacklogWatchOptions {
  readonly redisUrl: string;
  readonly pods: RunningPods;
  readonly client: Remote<StoryClient>;
  readonly topicEnd: TopicEnd;
}

/** Measures where the records of an open-loop flood wait, and their ages. */
export class BacklogWatch {
  readonly #options: BacklogWatchOptions;
  readonly #ages = new Ages();
  readonly #publishes: PublishWatch;
  readonly #memory: MemoryWatch;

  constructor(options: BacklogWatchOptions) {
    const { redisUrl, pods } = options;
    this.#options = options;
    this.#publishes = new PublishWatch(redisUrl, pods.channelPrefix, (copy, at) => this.#ages.published(copy, at));
    this.#memory = new MemoryWatch(redisUrl, pods.pids);
  }

  async start(): Promise<void> {
    await this.#memory.start();
  }

  /** Starts to record ages. Call it after the sockets have subscribed: until then nothing may be published to their channel. */
  async followPublishes(): Promise<void> {
    await this.#publishes.start();
  }

  /** The peaks and ages since the last call. */
  async sample(): Promise<{ recordsConsumed: number; backlog: BacklogSample }> {
    const { pods, topicEnd } = this.#options;
    const [{ recordsConsumed, gaps, queueBytes }, kafkaRecords] = await Promise.all([
      pods.count(),
      topicEnd.lag(pods.group),
      this.#readArrivals(),
    ]);
    const { p50Ms, p99Ms } = this.#ages.takeSecond();
    const backlog = { kafkaRecords, ...this.#memory.take(), queueBytes, gaps, ageP50Ms: p50Ms, ageP99Ms: p99Ms };
    return { recordsConsumed, backlog };
  }

  /** Starts `age()` from zero. */
  async resetAges(): Promise<void> {
    await this.#readArrivals();
    this.#ages.resetTotal();
  }

  async age(): Promise<LatencySummary> {
    await this.#readArrivals();
    return this.#ages.total();
  }

  close(): void {
    this.#publishes.close();
    this.#memory.close();
  }

  async #readArrivals(): Promise<void> {
    this.#ages.completed(await this.#options.client.arrivals());
  }
}
