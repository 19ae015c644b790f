import type { Interest } from '../load/interests.ts';
import { readLedgerEntry } from '../load/ledger-entry.ts';
import { Account } from './account.ts';
import type { FleetState } from './fleet-state.ts';
import { Presence } from './presence.ts';
import type { ClientOwner } from './stock-client.ts';

const MOST_FAILURES = 5;

/** One client's connections, and what each of its subscriptions received. */
export class User implements ClientOwner {
  readonly presence = new Presence();
  readonly accounts: readonly Account[];
  readonly #state: FleetState;
  #connectingAt = 0;
  #closedAt: number | undefined;

  constructor(interests: readonly Interest[], state: FleetState) {
    this.accounts = interests.map((interest) => new Account(interest));
    this.#state = state;
  }

  get isLive(): boolean {
    return this.accounts.every(({ isLive }) => isLive);
  }

  onConnecting(): void {
    this.#connectingAt = this.#state.clock();
    this.presence.connecting();
  }

  onReady(): void {
    const now = this.#state.clock();
    this.presence.ready(now);
    this.#state.handshakes.record(now - this.#connectingAt);
    if (this.#closedAt !== undefined) this.#state.reconnects.record(now - this.#closedAt);
    this.#closedAt = undefined;
  }

  onClosed(code: number): void {
    const now = this.#state.clock();
    const { closes, failedAttempts } = this.#state.counts;
    const counts = this.presence.isReady ? closes : failedAttempts;
    counts[code] = (counts[code] ?? 0) + 1;
    // After failed attempts the end of the last ready connection counts.
    if (this.presence.isReady) {
      this.#closedAt = now;
      this.#state.closings.push({ at: now, code });
    }
    this.presence.closed(now);
  }

  onResult(subscription: number, payload: object): void {
    const { counts, latency, clock, windowStartsAt } = this.#state;
    const entry = readLedgerEntry(payload);
    if (!entry) return void counts.corrupt++;
    const arrival = this.accounts[subscription]!.add(entry.lane, entry.sequence, this.presence.connection);
    if (arrival === 'unrequested') return void counts.unrequested++;
    if (arrival === 'duplicate') return void counts.duplicates++;
    if (arrival === 'reordered') counts.reordered++;
    if (entry.producedAt < windowStartsAt) return;
    counts.delivered++;
    latency.record(clock() - entry.producedAt);
  }

  onGap(): void {
    this.#state.counts.gaps++;
  }

  onFailure(what: string): void {
    const { counts } = this.#state;
    counts.failureCount++;
    if (counts.failures.length < MOST_FAILURES) counts.failures.push(what);
  }
}
