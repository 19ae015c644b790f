import { layOut, stamp } from './frame.ts';
import { MAX_BATCH_BYTES } from './outbox.ts';

const NOTHING = Buffer.alloc(0);

/**
 * Memory for the frames of one write, shared by all writes that are taken at once. What the last write left in it serves the
 * next: where that has the same results, as have connections that share, only what differs is written, the bytes before them.
 */
export class Scratch {
  #memory: Buffer | undefined;
  /** The messages whose frames are in it. */
  #parts: readonly Buffer[] = [];
  /** Those frames. */
  #frames: Buffer = NOTHING;

  /** Frames of messages of two parts each, `MAX_BATCH_BYTES` of them at most. `parts` must not change any more. */
  lay(parts: readonly Buffer[], bytes: number): Buffer {
    const memory = (this.#memory ??= Buffer.allocUnsafeSlow(MAX_BATCH_BYTES));
    if (this.#isLaidOutLike(parts)) stamp(memory, parts);
    else {
      layOut(memory, parts);
      this.#frames = memory.subarray(0, bytes);
    }
    this.#parts = parts;
    return this.#frames;
  }

  /** It belongs to a write that was not taken at once. */
  giveAway(): void {
    this.#memory = undefined;
    this.#parts = [];
    this.#frames = NOTHING;
  }

  /** Whether the results are the same, and where they begin. */
  #isLaidOutLike(parts: readonly Buffer[]): boolean {
    const laidOut = this.#parts;
    if (laidOut.length !== parts.length) return false;
    for (let i = 0; i < parts.length; i += 2) {
      if (laidOut[i + 1] !== parts[i + 1] || laidOut[i]!.length !== parts[i]!.length) return false;
    }
    return true;
  }
}
