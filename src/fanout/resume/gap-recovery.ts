import type { Coordinates } from '../../bus/coordinates.ts';
import type { HistoryEntry } from '../../bus/history.ts';
import type { Intake } from '../../flow/intake.ts';
import type { HeldBytes } from './held-bytes.ts';
import { heldLength } from './held-events.ts';

export interface GapRecoveryOwner {
  /** Events may be missing before the next one. */
  onGap(): void;
  /** The read has ended. `events`: entries that follow; undefined: the history does not prove what was missed. */
  onBackfill(events: number | undefined): void;
  acceptMissed(entry: HistoryEntry): void;
  /** A message that was received meanwhile. */
  acceptHeld(payload: Buffer, coordinates: Coordinates | undefined, intake: Intake | undefined): void;
}

interface HeldMessage {
  readonly payload: Buffer;
  readonly coordinates: Coordinates | undefined;
  readonly intake: Intake | undefined;
}

/**
 * Backfills a gap of a live channel, such as after an outage of the bus: delivers the events that the history has after the last delivered
 * one, then the messages received meanwhile. Where that is not possible, the channel's operations receive `gap: true`.
 */
export class GapRecovery {
  readonly #heldBytes: HeldBytes;
  readonly #owner: GapRecoveryOwner;
  /** In the order of arrival; undefined: no backfill is in flight. */
  #held: HeldMessage[] | undefined;
  #hasOverflowed = false;

  constructor(heldBytes: HeldBytes, owner: GapRecoveryOwner) {
    this.#heldBytes = heldBytes;
    this.#owner = owner;
  }

  get isRunning(): boolean {
    return this.#held !== undefined;
  }

  /** Holds a message until the backfill is delivered, as a copy: the buffer it is a part of would be held with it. Drops it if the pod has no room. */
  hold(payload: Buffer, coordinates: Coordinates | undefined, intake: Intake | undefined): void {
    if (this.#heldBytes.reserve(heldLength(payload.length))) {
      this.#held!.push({ payload: Buffer.from(payload), coordinates, intake });
      return;
    }
    this.#hasOverflowed = true;
    intake?.serve(payload.length);
  }

  /** @param read all that the history has after the last delivered event; undefined if it cannot prove that. Never rejects */
  async run(read: Promise<readonly HistoryEntry[] | undefined>): Promise<void> {
    const held: HeldMessage[] = (this.#held = []);
    this.#hasOverflowed = false;
    const missed = await read;
    this.#held = undefined;
    if (!missed || this.#hasOverflowed) this.#owner.onGap();
    this.#owner.onBackfill(missed?.length);
    for (const entry of missed ?? []) this.#owner.acceptMissed(entry);
    for (const { payload, coordinates, intake } of held) {
      this.#heldBytes.release(heldLength(payload.length));
      this.#owner.acceptHeld(payload, coordinates, intake);
    }
  }
}
