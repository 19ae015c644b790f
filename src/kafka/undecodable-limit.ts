import type { Logger } from '../log.ts';
import type { Chunk, PoisonReason } from './batch.ts';

/** The first records of a topic are all undecodable, so its setting must be wrong. Only a corrected configuration helps. */
export class TopicStoppedError extends Error {
  override readonly name = 'TopicStoppedError';
  readonly code = 'ERR_TOPIC_STOPPED';
}

export interface UndecodableLimitOptions {
  /** Undecodable records that stop a topic if none before them was decodable; 0: none do. */
  readonly limit: number;
  readonly log: Logger;
}

/** What to look at first, for the most frequent reason. */
const MENDS: Partial<Record<PoisonReason, string>> = {
  needs_registry: 'set SCHEMA_REGISTRY_URL (these records name their schema by its id in a registry)',
  no_schema_id: 'correct the format in @kafka (these records have no id of a schema)',
  unknown_schema: 'correct SCHEMA_REGISTRY_URL (this registry does not know their schemas)',
  unusable_schema: "the log says why the registry's schema cannot be used",
  other_format: 'correct the format in @kafka, or leave it out',
  too_large: 'raise MAX_RECORD_BYTES',
  too_deep: 'raise MAX_RECORD_DEPTH',
};
const OTHER_MEND = 'correct the topic or the format in @kafka, or SCHEMA_REGISTRY_URL';

export function undecodableMend(reason: PoisonReason): string {
  return MENDS[reason] ?? OTHER_MEND;
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
    const { limit, log } = this.#options;
    if (limit === 0 || this.#settled.has(topic)) return;
    const count = (this.#counts.get(topic) ?? 0) + undecodable;
    if (count < limit) {
      this.#counts.set(topic, count);
      if (hasDecodable) this.#settle(topic);
      return;
    }
    const reasons = countsOf(poison.map(({ reason }) => reason));
    const [[reason] = ['failed' as const]] = [...reasons].toSorted(([, a], [, b]) => b - a);
    const error = new TopicStoppedError(
      `each of the first ${count} records is undecodable (${[...reasons.keys()].join(', ')}); ${undecodableMend(reason)}, and restart; UNDECODABLE_LIMIT=0 sends them to the dead-letter topic`,
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
