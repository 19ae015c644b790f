import type { LatencySummary } from '../../scenarios/latency.ts';
import { Ages } from './ages.ts';
import type { StoryClient } from '../client/client-calls.ts';
import { MemoryWatch } from './memory-watch.ts';
import type { StoryPods } from '../pods/running-pods.ts';
import { PublishWatch } from './publish-watch.ts';
import type { BacklogSample } from '../result.ts';
import type { TopicEnd } from '../flood/topic.ts';

export interface BacklogWatchOptions {
  readonly redisUrl: string;
  readonly pods: StoryPods;
  readonly client: StoryClient;
  readonly topicEnd: TopicEnd;
}

/** Where the records of a free flood wait, and for how long. */
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

  /** Ages are known from here on. Not before sockets watch the channel: until then nothing is to be published to it. */
  async followPublishes(): Promise<void> {
    await this.#publishes.start();
  }

  /** Since the call before. */
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

  /** The ages that `age()` tells begin here. */
  async begin(): Promise<void> {
    await this.#readArrivals();
    this.#ages.begin();
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
