import { areAlike, layOut, stamp } from './frame.ts';
import type { Message } from './frame.ts';
import { MAX_BATCH_BYTES } from './outbox.ts';

const NOTHING = Buffer.alloc(0);

/**
 * Memory for the frames of one write, shared by all writes that are taken at once. What the last write left in it serves the
 * next: where messages are alike, as are those of connections that share, only what differs is written: ids, and what is not shared of results.
 */
export class Scratch {
  #memory: Buffer | undefined;
  /** The messages whose frames are in it. */
  #messages: readonly Message[] = [];
  /** Those frames. */
  #frames: Buffer = NOTHING;

  /** Frames of messages, `MAX_BATCH_BYTES` of them at most. `messages` must not change any more. */
  lay(messages: readonly Message[], bytes: number): Buffer {
    const memory = (this.#memory ??= Buffer.allocUnsafeSlow(MAX_BATCH_BYTES));
    if (areAlike(messages, this.#messages)) stamp(memory, messages, this.#messages);
    else {
      layOut(memory, messages);
      this.#frames = memory.subarray(0, bytes);
    }
    this.#messages = messages;
    return this.#frames;
  }

  /** It belongs to a write that was not taken at once. */
  giveAway(): void {
    this.#memory = undefined;
    this.#messages = [];
    this.#frames = NOTHING;
  }
}
