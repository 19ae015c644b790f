import { partitionKey } from '../partition-key.ts';

/** Progress of one assigned partition. */
export interface PartitionPosition {
  readonly topic: string;
  readonly partition: number;
  /** Offset of the next record to read. */
  readonly position: number;
  /** Offset that the next readable record will get. */
  readonly end: number;
  /** Offset of the partition's next record: greater than `end` while a transaction is open. */
  readonly high: number;
  /** True while it waits for something other than records (partition-waits.ts): such a partition does not stall. */
  readonly isPaused: boolean;
}

/** rebuild: replace the consumer. fatal: the consumer was replaced, and the same partition has not moved since. */
export type Verdict = 'healthy' | 'rebuild' | 'fatal';

interface Watched {
  readonly position: number;
  readonly sinceMs: number;
  readonly wasRebuilt: boolean;
}

/**
 * Detects a consumer that sends heartbeats but reads nothing. A partition stalls when it lags and its position has not moved for
 * `stallTimeoutMs`. Pure: the caller passes the time and the positions. Remembers the partitions that lagged at the last call.
 */
export class SessionWatchdog {
  readonly #stallTimeoutMs: number;
  #watched = new Map<string, Watched>();

  constructor(stallTimeoutMs: number) {
    this.#stallTimeoutMs = stallTimeoutMs;
  }

  /** The consumer has joined its group: every partition has the whole timeout again. */
  restart(nowMs: number): void {
    for (const [key, watched] of this.#watched) this.#watched.set(key, { ...watched, sinceMs: nowMs });
  }

  /** Call it several times per `stallTimeoutMs`. */
  observe(nowMs: number, positions: readonly PartitionPosition[]): Verdict {
    let verdict: Verdict = 'healthy';
    const watched = new Map<string, Watched>();
    for (const { topic, partition, position, end, isPaused } of positions) {
      if (end <= position || isPaused) continue;
      const key = partitionKey(topic, partition);
      const before = this.#watched.get(key);
      if (before?.position !== position) {
        watched.set(key, { position, sinceMs: nowMs, wasRebuilt: false });
      } else if (nowMs - before.sinceMs < this.#stallTimeoutMs) {
        watched.set(key, before);
      } else {
        if (before.wasRebuilt) verdict = 'fatal';
        else if (verdict === 'healthy') verdict = 'rebuild';
        watched.set(key, { position, sinceMs: nowMs, wasRebuilt: true });
      }
    }
    this.#watched = watched;
    return verdict;
  }
}
