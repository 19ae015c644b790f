import { setImmediate as nextTurn } from 'node:timers/promises';
import type { History, HistoryEntry } from '../../bus/history.ts';
import type { CursorPlace } from './cursor.ts';
import type { HeldBytes } from './held-bytes.ts';
import { heldLength } from './held-events.ts';
import type { HeldEvents } from './held-events.ts';
import { isBehind, missedSince } from './recovery.ts';

/** For how long a read serves clients that come after it, in ms. */
const SHARED_MS = 5_000;

/** Clients that go on in one turn of the event loop with a read that they waited for: about 1 ms of work. */
const ANSWERED_PER_TURN = 64;

/** One read of a channel's history. */
export class HistoryRead {
  /** Position of the first live event that was held when the read began. The read and the events from there on have no gap between them. */
  readonly position: number;
  /** Of all entries, as they count in `HeldBytes`. */
  readonly bytes: number;
  /** Subscriptions that still need its entries. */
  users = 0;
  readonly #from: string | undefined;
  readonly #history: History;
  readonly #endsAt = performance.now() + SHARED_MS;
  readonly #indexes: ReadonlyMap<string | undefined, number>;
  /** By cursor. */
  readonly #missed = new Map<string, readonly HistoryEntry[] | undefined>();

  /** @param from entry that the read began with; undefined: it asked for the last one */
  constructor(from: string | undefined, position: number, history: History) {
    this.position = position;
    this.#from = from;
    this.#history = history;
    this.#indexes = new Map(history.entries.map(({ coordinates }, index) => [coordinates.entry, index]));
    this.bytes = history.entries.reduce((sum, { payload }) => sum + heldLength(payload.length), 0);
  }

  get entries(): readonly HistoryEntry[] {
    return this.#history.entries;
  }

  get isFresh(): boolean {
    return performance.now() < this.#endsAt;
  }

  /** Whether this read has all that a read from this event would have: the event is between the one that this read began with and the last one. */
  answers({ entry }: CursorPlace): boolean {
    if (entry === this.#from) return true;
    const last = this.entries.at(-1)?.coordinates.entry;
    if (this.#from === undefined || last === undefined) return false;
    return !isBehind(this.#from, entry) && !isBehind(entry, last);
  }

  /** As `missedSince` of `recovery.ts`; computed once for each cursor. */
  missedSince(seen: CursorPlace): readonly HistoryEntry[] | undefined {
    const key = `${seen.epoch} ${seen.partition} ${seen.offset} ${seen.entry}`;
    if (this.#missed.has(key)) return this.#missed.get(key);
    const index = this.#indexes.get(seen.entry);
    const entries = index === undefined ? [] : this.entries.slice(index);
    const missed = missedSince(seen, { epoch: this.#history.epoch, entries });
    this.#missed.set(key, missed);
    return missed;
  }
}

/** What a subscription begins with. */
export interface Missed {
  readonly entries: readonly HistoryEntry[];
  readonly read: HistoryRead;
}

interface Request {
  readonly seen: CursorPlace;
  readonly resolve: (read: HistoryRead | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Reads one channel's history for all of its clients that resume: one read at a time, from the oldest cursor that waits, which answers
 * the later cursors, too. A read serves those who come after it as long as every live event since its beginning is held.
 */
export class HistoryReads {
  readonly #read: (from: string | undefined) => Promise<History | undefined>;
  readonly #held: HeldEvents;
  readonly #bytes: HeldBytes;
  readonly #kept = new Set<HistoryRead>();
  #waiting: Request[] = [];
  #isReading = false;
  /** The last event, as long as no live event came since. */
  #last: { readonly position: number; readonly read: Promise<HistoryRead | undefined> } | undefined;

  /** @param read undefined where the bus does not answer; never rejects */
  constructor(read: (from: string | undefined) => Promise<History | undefined>, held: HeldEvents, bytes: HeldBytes) {
    this.#read = read;
    this.#held = held;
    this.#bytes = bytes;
  }

  /** Whether no read is kept. */
  get isEmpty(): boolean {
    return this.#kept.size === 0;
  }

  /** Position from which on live events must be held, so that the reads serve those to come. */
  get position(): number {
    let position = Infinity;
    for (const read of this.#kept) if (read.isFresh) position = Math.min(position, read.position);
    return position;
  }

  /** All that came after an event; undefined where that cannot be proved. For a subscription for which live events are held now. */
  async missedSince(seen: CursorPlace): Promise<Missed | undefined> {
    const read = this.#find(seen) ?? (await this.#request(seen));
    const entries = read?.missedSince(seen);
    return read && entries && { entries, read };
  }

  /** The last event. */
  async last(): Promise<Missed | undefined> {
    if (this.#last?.position !== this.#held.end) {
      const position = this.#held.end;
      this.#last = { position, read: this.#begin(undefined, position) };
    }
    const last = this.#last;
    let read: HistoryRead | undefined;
    try {
      read = await last.read;
    } finally {
      if (!read && this.#last === last) this.#last = undefined;
    }
    return read && { entries: read.entries, read };
  }

  /** Forgets the reads that nobody uses: those that are no longer fresh, or all. */
  drop(isFreshKept: boolean): void {
    for (const read of this.#kept) {
      if (read.users > 0 || (isFreshKept && read.isFresh)) continue;
      this.#kept.delete(read);
      this.#bytes.give(read.bytes);
    }
    this.#last = undefined;
  }

  #find(seen: CursorPlace): HistoryRead | undefined {
    for (const read of this.#kept) if (read.isFresh && this.#isJoined(read) && read.answers(seen)) return read;
    return undefined;
  }

  /** Whether every live event since the read began is held. */
  #isJoined({ position }: HistoryRead): boolean {
    return position >= this.#held.first;
  }

  #request(seen: CursorPlace): Promise<HistoryRead | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ seen, resolve, reject });
      if (!this.#isReading) void this.#readAll();
    });
  }

  /** Never rejects: a throw is for all who wait, and the next request reads again. */
  async #readAll(): Promise<void> {
    this.#isReading = true;
    try {
      while (this.#waiting.length > 0) await this.#readOnce();
    } catch (error) {
      for (const { reject } of this.#waiting.splice(0)) reject(error);
    } finally {
      this.#isReading = false;
    }
  }

  async #readOnce(): Promise<void> {
    const before = new Set(this.#waiting);
    const read = await this.#begin(oldestOf(this.#waiting), this.#held.end);
    const isGood = read !== undefined && this.#isJoined(read);
    const answered: Request[] = [];
    this.#waiting = this.#waiting.filter((request) => {
      if (isGood && read.answers(request.seen)) answered.push(request);
      else if (!isGood && before.has(request)) request.resolve(undefined);
      else return true;
      return false;
    });
    if (read) await this.#answer(answered, read);
  }

  async #answer(requests: readonly Request[], read: HistoryRead): Promise<void> {
    for (let next = 0; next < requests.length; next += ANSWERED_PER_TURN) {
      if (next > 0) await nextTurn();
      if (!this.#isJoined(read)) return void this.#waiting.push(...requests.slice(next));
      for (const { resolve } of requests.slice(next, next + ANSWERED_PER_TURN)) resolve(read);
    }
  }

  /** undefined where the bus does not answer, or the pod has no room for what it read. */
  async #begin(from: string | undefined, position: number): Promise<HistoryRead | undefined> {
    const history = await this.#read(from);
    if (!history) return undefined;
    const read = new HistoryRead(from, position, history);
    if (!this.#bytes.isAmple) this.drop(false);
    // A client cannot be told that it misses the last event, so there is always room for one.
    if (from === undefined) this.#bytes.add(read.bytes);
    else if (!this.#bytes.take(read.bytes)) return undefined;
    this.#kept.add(read);
    return read;
  }
}

function oldestOf(requests: readonly Request[]): string {
  let oldest = requests[0]!.seen.entry;
  for (const { seen } of requests) if (seen.entry !== oldest && isBehind(oldest, seen.entry)) oldest = seen.entry;
  return oldest;
}
