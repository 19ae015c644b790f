import { UNMATCHED_REASONS } from '../graph/field-tally.ts';
import type { FieldTally, UnmatchedReason } from '../graph/field-tally.ts';
import type { TopicRouter } from '../graph/router.ts';
import type { Logger } from '../base/log.ts';

const WINDOW_MS = 60_000;

/** Counts at the end of the last window. */
interface Counts {
  readonly matched: number;
  readonly unmatched: Readonly<Record<UnmatchedReason, number>>;
}

const NONE: Counts = { matched: 0, unmatched: { match_absent: 0, payload_absent: 0 } };

/**
 * Logs records that match no field, one line per field and window of 60 s. Fields that share a topic may each be meant for some of its
 * records. So a field is a warning only if it matched no record of the window, and either some records reached no field at all or
 * the field has matched none since the start. If it matched some records while others reached no field, it is logged as information.
 */
export class UnmatchedLog {
  #routers: readonly TopicRouter[];
  readonly #log: Logger;
  readonly #fields = new Map<FieldTally, Counts>();
  readonly #topics = new Map<TopicRouter, { readonly records: number; readonly unrouted: number }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(routers: Iterable<TopicRouter>, log: Logger) {
    this.#routers = [...routers];
    this.#log = log;
  }

  /** These routers count on from the present ones. */
  replace(routers: Iterable<TopicRouter>): void {
    this.#routers = [...routers];
    this.#fields.clear();
    this.#topics.clear();
    for (const router of this.#routers) {
      this.#topics.set(router, { records: router.records, unrouted: router.unrouted });
      for (const tally of router.tallies)
        this.#fields.set(tally, { matched: tally.matched, unmatched: { ...tally.unmatched } });
    }
  }

  start(): void {
    this.#timer = setInterval(() => this.report(), WINDOW_MS).unref();
  }

  close(): Promise<void> {
    clearInterval(this.#timer);
    return Promise.resolve();
  }

  /** Logs the counts since the last call. */
  report(): void {
    for (const router of this.#routers) {
      const last = this.#topics.get(router) ?? { records: 0, unrouted: 0 };
      const records = router.records - last.records;
      const unrouted = router.unrouted - last.unrouted;
      this.#topics.set(router, { records: router.records, unrouted: router.unrouted });
      for (const tally of router.tallies) this.#reportField(router.topic, tally, records, unrouted);
    }
  }

  #reportField(topic: string, tally: FieldTally, records: number, unrouted: number): void {
    const last = this.#fields.get(tally) ?? NONE;
    const { field, matched, unmatched } = tally;
    this.#fields.set(tally, { matched, unmatched: { ...unmatched } });
    for (const reason of UNMATCHED_REASONS) {
      const count = unmatched[reason] - last.unmatched[reason];
      const isLost = reason === 'payload_absent' || unrouted > 0;
      if (count === 0 || !(isLost || matched === 0)) continue;
      const line = { topic, field, payloadPath: tally.paths[reason], reason, unmatched: count, records };
      if (matched === last.matched) this.#log.warn(line, 'no record matched a field');
      else this.#log.info(line, 'some records did not match a field');
    }
  }
}
