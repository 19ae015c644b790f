import type { HistoryEntry } from '../../../bus/history.ts';
import type { ArrivedMessage } from '../channel-event.ts';
import type { GapReason } from '../channel-services.ts';
import type { HeldBytes } from './replay-bytes.ts';
import { heldLength } from './held-events.ts';

/** What is delivered after a gap. */
export interface Backfill {
  readonly entries: readonly HistoryEntry[];
  /** True if the entries are all that was missed. */
  readonly isComplete: boolean;
}

export interface GapRecoveryOwner {
  /** Events may be missing before the next one. */
  onGap(reason: GapReason): void;
  /** The read has ended. `events`: entries that follow; undefined: the history does not prove what was missed. */
  onBackfill(events: number | undefined): void;
  /** @param isState true: the state of the channel, instead of what was missed */
  acceptMissed(entry: HistoryEntry, isState: boolean): void;
  /** A message that was received meanwhile. */
  acceptHeld(message: ArrivedMessage): void;
}

/**
 * Backfills a gap of a live channel, such as after an outage of the bus: delivers the events that the history has after the last delivered
 * one, then the messages received meanwhile. Where that is not possible, the channel's operations receive `gap: true`, and the state of the
 * channel if it has one.
 */
export class GapRecovery {
  readonly #heldBytes: HeldBytes;
  readonly #owner: GapRecoveryOwner;
  /** In the order of arrival; undefined: no backfill is in flight. */
  #held: ArrivedMessage[] | undefined;
  #hasOverflowed = false;
  #isOutdated = false;

  constructor(heldBytes: HeldBytes, owner: GapRecoveryOwner) {
    this.#heldBytes = heldBytes;
    this.#owner = owner;
  }

  get isRunning(): boolean {
    return this.#held !== undefined;
  }

  /** Holds a message until the backfill is delivered, as a copy: the buffer it is a part of would be held with it. Drops it if the pod has no room. */
  hold(message: ArrivedMessage): void {
    const { payload, intake } = message;
    if (this.#heldBytes.reserve(heldLength(payload.length))) {
      this.#held!.push({ ...message, payload: Buffer.from(payload) });
      return;
    }
    this.#hasOverflowed = true;
    intake?.serve(payload.length);
  }

  /** @param read never rejects; called again if another gap follows before it has resolved */
  async run(read: () => Promise<Backfill>): Promise<void> {
    const held: ArrivedMessage[] = (this.#held = []);
    this.#hasOverflowed = false;
    let backfill: Backfill;
    do {
      this.#isOutdated = false;
      backfill = await read();
      if (this.#held !== held) return;
    } while (this.#isOutdated);
    this.#held = undefined;
    const { entries, isComplete } = backfill;
    if (!isComplete || this.#hasOverflowed) this.#owner.onGap(isComplete ? 'room' : 'bus');
    this.#owner.onBackfill(isComplete ? entries.length : undefined);
    for (const entry of entries) this.#owner.acceptMissed(entry, !isComplete);
    for (const message of held) {
      this.#heldBytes.release(heldLength(message.payload.length));
      this.#owner.acceptHeld(message);
    }
  }

  /** The bus was without the channel once more: what is being read may lack the latest messages. */
  repeat(): void {
    this.#isOutdated = true;
  }

  /** Releases the messages that it holds. Nothing is delivered after this. */
  close(): void {
    for (const { payload, intake } of this.#held ?? []) {
      this.#heldBytes.release(heldLength(payload.length));
      intake?.serve(payload.length);
    }
    this.#held = undefined;
  }
}
