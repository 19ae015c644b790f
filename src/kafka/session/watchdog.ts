/** How one assigned partition stands. */
export interface PartitionStanding {
  readonly topic: string;
  readonly partition: number;
  /** Offset of the next record to read. */
  readonly position: bigint;
  /** Offset that the next readable record will get. */
  readonly end: bigint;
  /** It waits for others, which is no stall. */
  readonly isPaused: boolean;
}

/** rebuild: make the consumer anew. fatal: that was done already, and the same partition has not moved since. */
export type Verdict = 'well' | 'rebuild' | 'fatal';

interface Watched {
  readonly position: bigint;
  readonly sinceMs: number;
  readonly wasRebuilt: boolean;
}

/**
 * Notices a consumer that is alive but silent: every Kafka client has been seen to stop reading while its heartbeats
 * went on. A partition stalls when it has lag and its position has not moved for `stallTimeoutMs`. Pure: it is told the
 * time and the standings. Remembers the partitions of the last standings that had lag.
 */
export class Watchdog {
  readonly #stallTimeoutMs: number;
  #watched = new Map<string, Watched>();

  constructor(stallTimeoutMs: number) {
    this.#stallTimeoutMs = stallTimeoutMs;
  }

  /** The consumer has joined its group (again): what stalls has the whole time once more. */
  restart(nowMs: number): void {
    for (const [key, watched] of this.#watched) this.#watched.set(key, { ...watched, sinceMs: nowMs });
  }

  /** To be asked a few times within `stallTimeoutMs`. */
  observe(nowMs: number, standings: readonly PartitionStanding[]): Verdict {
    let verdict: Verdict = 'well';
    const watched = new Map<string, Watched>();
    for (const { topic, partition, position, end, isPaused } of standings) {
      if (end <= position || isPaused) continue;
      const key = `${partition}/${topic}`;
      const before = this.#watched.get(key);
      if (before?.position !== position) {
        watched.set(key, { position, sinceMs: nowMs, wasRebuilt: false });
      } else if (nowMs - before.sinceMs < this.#stallTimeoutMs) {
        watched.set(key, before);
      } else {
        if (before.wasRebuilt) verdict = 'fatal';
        else if (verdict === 'well') verdict = 'rebuild';
        watched.set(key, { position, sinceMs: nowMs, wasRebuilt: true });
      }
    }
    this.#watched = watched;
    return verdict;
  }
}
