import { areAlike, layOut, stamp } from './frame.ts';
import type { Message } from './frame.ts';

interface Page {
  readonly memory: Buffer;
  /** The messages whose frames are in it. */
  messages: readonly Message[];
  /** Those frames. */
  frames: Buffer;
}

/**
 * Memory for the frames of one write, shared by all writes that are taken at once. What the last write of about the same size left in
 * it serves the next: where messages are alike, as are those of connections that share, only what differs is written: ids, and what is
 * not shared of results.
 */
export class Scratch {
  /** By size, each a power of two: a write that was not taken keeps less than twice its bytes. */
  readonly #pages: (Page | undefined)[] = [];
  /** The page of the last write. */
  #power = 0;

  /** Frames of messages, `bytes` in all. `messages` must not change any more. */
  lay(messages: readonly Message[], bytes: number): Buffer {
    this.#power = 32 - Math.clz32(bytes - 1);
    const page = (this.#pages[this.#power] ??= emptyPage(2 ** this.#power));
    if (areAlike(messages, page.messages)) stamp(page.memory, messages, page.messages);
    else {
      layOut(page.memory, messages);
      page.frames = page.memory.subarray(0, bytes);
    }
    page.messages = messages;
    return page.frames;
  }

  /** What was laid last belongs to a write that was not taken at once. */
  giveAway(): void {
    this.#pages[this.#power] = undefined;
  }
}

function emptyPage(size: number): Page {
  const memory = Buffer.allocUnsafeSlow(size);
  return { memory, messages: [], frames: memory };
}
