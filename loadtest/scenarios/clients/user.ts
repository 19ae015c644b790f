import { Account } from './account.ts';
import type { ClientOwner } from './client.ts';
import type { Interest } from '../load/interests.ts';
import type { Latency } from '../latency.ts';
import { Presence } from './presence.ts';
import type { ResultReader } from './result-reader.ts';

/** What all users of a fleet write to. */
export interface FleetBooks {
  readonly clock: () => number;
  readonly readerOf: (interest: Interest) => ResultReader;
  readonly latency: Latency;
  readonly reconnects: Latency;
  readonly handshakes: Latency;
  readonly counts: Counts;
  /** Latency counts from records of this time on. */
  windowStartsAt: number;
}

export interface Counts {
  delivered: number;
  duplicates: number;
  reordered: number;
  corrupt: number;
  foreign: number;
  readonly closes: Record<string, number>;
  readonly failedAttempts: Record<string, number>;
  readonly slowCloses: Record<string, number>;
  failures: string[];
  failureCount: number;
}

const MOST_FAILURES = 5;

/** One client's books: when it was connected, and what each of its subscriptions got. */
export class User implements ClientOwner {
  readonly presence = new Presence();
  readonly accounts: readonly Account[];
  readonly isSlow: boolean;
  readonly #books: FleetBooks;
  readonly #readers: readonly ResultReader[];
  #connectingAt = 0;
  #closedAt: number | undefined;
  /** Its close is its own doing. */
  isLeaving = false;

  constructor(interests: readonly Interest[], isSlow: boolean, books: FleetBooks) {
    this.accounts = interests.map((interest) => new Account(interest));
    this.isSlow = isSlow;
    this.#books = books;
    this.#readers = interests.map(books.readerOf);
  }

  get isLive(): boolean {
    return this.accounts.every(({ isLive }) => isLive);
  }

  onConnecting(): void {
    this.#connectingAt = this.#books.clock();
    this.presence.connecting();
  }

  onReady(): void {
    const now = this.#books.clock();
    this.presence.ready(now);
    if (this.isSlow) return;
    this.#books.handshakes.record(now - this.#connectingAt);
    if (this.#closedAt !== undefined) this.#books.reconnects.record(now - this.#closedAt);
    this.#closedAt = undefined;
  }

  onClosed(code: number): void {
    const now = this.#books.clock();
    const { closes, failedAttempts, slowCloses } = this.#books.counts;
    const counts = this.isSlow ? slowCloses : this.presence.isReady ? closes : failedAttempts;
    if (!this.isLeaving) counts[code] = (counts[code] ?? 0) + 1;
    // Of several attempts to come back the end of the last connection that was ready counts.
    if (this.presence.isReady) this.#closedAt = now;
    this.presence.closed(now);
  }

  onResult(subscription: number, payload: Buffer | object): void {
    const { counts, latency, clock, windowStartsAt } = this.#books;
    const entry = this.#readers[subscription]?.read(payload);
    if (!entry) return void counts.corrupt++;
    const arrival = this.accounts[subscription]!.add(entry.lane, entry.sequence, this.presence.connection);
    if (arrival === 'foreign') return void counts.foreign++;
    if (arrival === 'duplicate') return void counts.duplicates++;
    if (arrival === 'reordered') counts.reordered++;
    if (entry.producedAt < windowStartsAt || this.isSlow) return;
    counts.delivered++;
    latency.record(clock() - entry.producedAt);
  }

  onFailure(what: string): void {
    const { counts } = this.#books;
    counts.failureCount++;
    if (counts.failures.length < MOST_FAILURES) counts.failures.push(what);
  }
}
