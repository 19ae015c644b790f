import { setImmediate as nextTurn } from 'node:timers/promises';
import { compareEntryIds } from '../../../bus/entry-id.ts';
import type { History, HistoryEntry } from '../../../bus/history.ts';
import type { CursorPosition } from './cursor.ts';
import type { HeldBytes } from './replay-bytes.ts';
import { heldLength } from './held-events.ts';
import type { HeldEvents } from './held-events.ts';
import { missedSince } from './recovery.ts';

/** Time in ms for which a read serves later clients. */
const SHARED_MS = 5_000;

/** Clients that one turn of the event loop resumes with a read they waited for: about 1 ms of work. */
const ANSWERED_PER_TURN = 64;

/** One read of a channel's history. */
export class HistoryRead {
  /** Sequence number of the next held event when the read began. The read and the events from there on have no gap between them. */
  readonly sequence: number;
  /** Bytes that all entries count for in `HeldBytes`. */
  readonly bytes: number;
  /** Subscriptions that still need its entries. */
  users = 0;
  readonly #from: string | undefined;
  readonly #history: History;
  readonly #endsAt = performance.now() + SHARED_MS;
  readonly #indexes: ReadonlyMap<string | undefined, number>;
  /** By cursor. */
  readonly #missed = new Map<string, readonly HistoryEntry[] | undefined>();

  /** @param from first entry that was read; undefined: only the last one was */
  constructor(from: string | undefined, sequence: number, history: History) {
    this.sequence = sequence;
    this.#from = from;
    this.#history = history;
    this.#indexes = new Map(history.entries.map(({ coordinates }, index) => [coordinates.entry, index]));
    this.bytes = history.entries.reduce((sum, { payload }) => sum + heldLength(payload.length), 0);
  }

  /** True if only the last event was read. */
  get isOfLast(): boolean {
    return this.#from === undefined;
  }

  get epoch(): number {
    return this.#history.epoch;
  }

  get entries(): readonly HistoryEntry[] {
    return this.#history.entries;
  }

  get isFresh(): boolean {
    return performance.now() < this.#endsAt;
  }

  /** True if this read has all that a read from this event would have: the event is between the first one of this read and the last one. */
  answers({ entry }: CursorPosition): boolean {
    if (entry === this.#from) return true;
    const last = this.entries.at(-1)?.coordinates.entry;
    if (this.#from === undefined || last === undefined) return false;
    return compareEntryIds(this.#from, entry) <= 0 && compareEntryIds(entry, last) <= 0;
  }

  /** As `missedSince` of `recovery.ts`; computed once for each cursor. */
  missedSince(seen: CursorPosition): readonly HistoryEntry[] | undefined {
    const key = `${seen.epoch} ${seen.partition} ${seen.offset} ${seen.entry}`;
    if (this.#missed.has(key)) return this.#missed.get(key);
    const index = this.#indexes.get(seen.entry);
    const entries = index === undefined ? [] : this.entries.slice(index);
    const missed = missedSince(seen, { epoch: this.#history.epoch, entries });
    this.#missed.set(key, missed);
    return missed;
  }
}

/** The events that a subscription begins with, and their read. */
export interface Missed {
  readonly entries: readonly HistoryEntry[];
  readonly read: HistoryRead;
}

interface Request {
  readonly seen: CursorPosition;
  readonly resolve: (read: HistoryRead | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Reads one channel's history for all of its clients that resume: one read at a time, from the oldest waiting cursor, which serves the later
 * cursors, too. A read serves later clients as long as every live event since its beginning is held.
 */
export class HistoryReads {
  readonly #read: (from: string | undefined) => Promise<History | undefined>;
  readonly #held: HeldEvents;
  readonly #bytes: HeldBytes;
  readonly #kept = new Set<HistoryRead>();
  #waiting: Request[] = [];
  #isReading = false;
  /** The last event, until a live event follows. */
  #last: { readonly sequence: number; readonly read: Promise<HistoryRead | undefined> } | undefined;

  /** @param read resolves with undefined if the bus does not answer; never rejects */
  constructor(read: (from: string | undefined) => Promise<History | undefined>, held: HeldEvents, bytes: HeldBytes) {
    this.#read = read;
    this.#held = held;
    this.#bytes = bytes;
  }

  /** True if no read is kept. */
  get isEmpty(): boolean {
    return this.#kept.size === 0;
  }

  /** Live events from this sequence number on must be held, so that the reads can serve later clients. */
  get sequence(): number {
    let sequence = Infinity;
    for (const read of this.#kept) if (read.isFresh) sequence = Math.min(sequence, read.sequence);
    return sequence;
  }

  /** All events after the one that a client has seen; undefined if completeness cannot be proved. Live events must be held for it already. */
  async missedSince(seen: CursorPosition): Promise<Missed | undefined> {
    const read = this.#find(seen) ?? (await this.#request(seen));
    const entries = read?.missedSince(seen);
    return read && entries && { entries, read };
  }

  /** The last event. */
  async last(): Promise<Missed | undefined> {
    if (this.#last?.sequence !== this.#held.end) {
      const sequence = this.#held.end;
      this.#last = { sequence, read: this.#readFrom(undefined, sequence) };
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

  /** Drops unused reads: all, or only those that are no longer fresh. */
  drop(isFreshKept: boolean): void {
    for (const read of this.#kept) {
      if (read.users > 0 || (isFreshKept && read.isFresh)) continue;
      this.#kept.delete(read);
      this.#bytes.release(read.bytes);
    }
    this.#last = undefined;
  }

  #find(seen: CursorPosition): HistoryRead | undefined {
    for (const read of this.#kept) if (read.isFresh && this.#isContiguous(read) && read.answers(seen)) return read;
    return undefined;
  }

  /** True if every live event since the read began is held. */
  #isContiguous({ sequence }: HistoryRead): boolean {
    return sequence >= this.#held.first;
  }

  #request(seen: CursorPosition): Promise<HistoryRead | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ seen, resolve, reject });
      if (!this.#isReading) void this.#readAll();
    });
  }

  /** Never rejects: a throw rejects all waiting requests, and the next request reads again. */
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
    const read = await this.#readFrom(oldestOf(this.#waiting), this.#held.end);
    const isGood = read !== undefined && this.#isContiguous(read);
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
      if (!this.#isContiguous(read)) return void this.#waiting.push(...requests.slice(next));
      for (const { resolve } of requests.slice(next, next + ANSWERED_PER_TURN)) resolve(read);
    }
  }

  /** undefined if the bus does not answer, or the pod has no room for the entries. */
  async #readFrom(from: string | undefined, sequence: number): Promise<HistoryRead | undefined> {
    const history = await this.#read(from);
    if (!history) return undefined;
    const read = new HistoryRead(from, sequence, history);
    if (!this.#bytes.isAmple) this.drop(false);
    // No note can tell a client that it misses the last event, so there is always room for one.
    if (from === undefined) this.#bytes.add(read.bytes);
    else if (!this.#bytes.reserve(read.bytes)) return undefined;
    this.#kept.add(read);
    return read;
  }
}

function oldestOf(requests: readonly Request[]): string {
  let oldest = requests[0]!.seen.entry;
  for (const { seen } of requests) if (compareEntryIds(seen.entry, oldest) < 0) oldest = seen.entry;
  return oldest;
}
