import { LRUCache } from 'lru-cache';
import { RateLimit } from '../../base/limits/rate-limit.ts';
import type { SchemaId } from './wire-format.ts';

/** How long a topic's partition waits for a schema that the registry does not know: a replica of the registry may lag. */
const GRACE_MS = 5_000;
/** After an id that stayed unknown, other unknown ids of the topic get no grace for this long. */
const DISTRUST_MS = 30_000;
/** Time for which an id that stayed unknown is not looked up again. */
const UNKNOWN_MS = 30_000;
const MAX_IDS = 1_000;
/** Lookups of a topic whose producers made up ids. */
const LOOKUPS_PER_SECOND = 10;

/** What becomes of a record whose schema the registry does not know. */
export type UnknownVerdict = 'wait' | 'poison';

/**
 * The ids of one topic that the registry does not know. The first one gets a grace of 5 s, in which the partition waits. A producer that makes
 * up ids must neither hold up its topic nor keep the registry busy: within 30 s of an id that stayed unknown, unknown ids are
 * poison at once, and at most ten a second are looked up. So they always are where ids may be none (`mayBeNone`). Pure: the caller passes the
 * time, of a monotonic clock.
 */
export class UnknownSchemas {
  readonly #unknown: LRUCache<SchemaId, true>;
  readonly #waitingSince = new LRUCache<SchemaId, number>({ max: MAX_IDS });
  readonly #lookups = new RateLimit(LOOKUPS_PER_SECOND, LOOKUPS_PER_SECOND);
  #distrustedUntil = -Infinity;

  /** @param now the clock, in ms */
  constructor(now: () => number = () => performance.now()) {
    this.#unknown = new LRUCache({ max: MAX_IDS, ttl: UNKNOWN_MS, ttlResolution: 0, perf: { now } });
  }

  /** False: the id stays unknown without a lookup. */
  mayLookUp(id: SchemaId, nowMs: number, mayBeNone = false): boolean {
    if (this.#unknown.has(id)) return false;
    const isTrusted = !mayBeNone && (nowMs >= this.#distrustedUntil || this.#waitingSince.has(id));
    return isTrusted || this.#lookups.take(nowMs);
  }

  /** The registry does not know the id. */
  judge(id: SchemaId, nowMs: number, mayBeNone = false): UnknownVerdict {
    const since = mayBeNone ? undefined : this.#waitingSince.get(id);
    if (!mayBeNone && since === undefined && nowMs >= this.#distrustedUntil) {
      this.#waitingSince.set(id, nowMs);
      return 'wait';
    }
    if (since !== undefined && nowMs - since < GRACE_MS) return 'wait';
    if (since !== undefined) this.#distrustedUntil = nowMs + DISTRUST_MS;
    this.#waitingSince.delete(id);
    this.#unknown.set(id, true);
    return 'poison';
  }

  /** The registry knows the id. */
  delete(id: SchemaId): void {
    this.#waitingSince.delete(id);
  }
}
