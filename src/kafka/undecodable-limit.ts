import type { Logger } from '../base/log.ts';
import type { SettingNames } from '../config/setting-names.ts';
import type { Chunk, PoisonReason } from './batch.ts';
import { undecodableReason } from './undecodable-reason.ts';

/** The first records of a topic are all undecodable, so its setting must be wrong. Only a corrected configuration helps. */
export class TopicStoppedError extends Error {
  override readonly name = 'TopicStoppedError';
  readonly code = 'ERR_TOPIC_STOPPED';
}

export interface UndecodableLimitOptions {
  /** Undecodable records that stop a topic if none before them was decodable; 0: none do. */
  readonly limit: number;
  readonly log: Logger;
  readonly names: SettingNames;
}

/**
 * Stops a topic whose first records are all undecodable, instead of emptying it into the dead-letter topic: its format, its registry or the
 * topic itself is configured wrongly. Counts from the start of the process until the first decodable record. Holds one entry for
 * each topic.
 */
export class UndecodableLimit {
  readonly #options: UndecodableLimitOptions;
  /** Undecodable records so far. */
  readonly #counts = new Map<string, number>();
  /** Topics with a decodable record: they are never stopped. */
  readonly #settled = new Set<string>();
  readonly #stopped = new Map<string, TopicStoppedError>();

  constructor(options: UndecodableLimitOptions) {
    this.#options = options;
  }

  /** @throws TopicStoppedError if the topic is stopped */
  check(topic: string): void {
    const stopped = this.#stopped.get(topic);
    if (stopped) throw stopped;
  }

  /** Counts a chunk before it is published. @throws TopicStoppedError if it reaches the limit */
  count({ last, undecodable, hasDecodable, poison }: Chunk): void {
    const { topic, partition } = last;
    const { limit, log, names } = this.#options;
    if (limit === 0 || this.#settled.has(topic)) return;
    const count = (this.#counts.get(topic) ?? 0) + undecodable;
    if (count < limit) {
      this.#counts.set(topic, count);
      if (hasDecodable) this.#settle(topic);
      return;
    }
    const reasons = countsOf(poison.map(({ reason }) => reason));
    const [first, ...others] = [...reasons.keys()].toSorted((a, b) => reasons.get(b)! - reasons.get(a)!);
    const { record } = poison.find(({ reason }) => reason === first)!;
    const { why, fix } = undecodableReason(first!, record, names);
    const error = new TopicStoppedError(
      `each of the first ${count} records is undecodable (${[why, ...others].join(', ')}); ${fix}, and restart; ${names.DISABLE}=undecodable-limit sends them to the dead-letter topic`,
    );
    this.#stopped.set(topic, error);
    log.error({ topic, partition, reasons: Object.fromEntries(reasons), err: { message: error.message } }, STOPPED);
    throw error;
  }

  /** The bus has refused a counted chunk: its records will be counted again. */
  takeBack({ last: { topic }, undecodable }: Chunk): void {
    const count = this.#counts.get(topic);
    if (count !== undefined) this.#counts.set(topic, count - undecodable);
  }

  #settle(topic: string): void {
    this.#settled.add(topic);
    this.#counts.delete(topic);
  }
}

const STOPPED = 'the topic is stopped: its records stay in Kafka, uncommitted';

function countsOf(reasons: readonly PoisonReason[]): Map<PoisonReason, number> {
  const counts = new Map<PoisonReason, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return counts;
}
