import { haveEqualLayout, overwrite, writeFrames } from './frame.ts';
import type { Message } from './frame.ts';

interface Page {
  readonly memory: Buffer;
  /** The messages whose frames are in `memory`. */
  messages: readonly Message[];
  /** Their frames: the beginning of `memory`. */
  frames: Buffer;
  /** True: the frames have headers. */
  hasFrames: boolean;
}

/**
 * Memory for the frames of one write, reused by every write that the kernel accepts synchronously. A batch often has the layout of the last
 * one of its size, as batches of connections that share results do. Then only the bytes that differ are written: ids, and pieces that are
 * not shared.
 */
export class Scratch {
  /** By size, a power of two: a write that has to wait keeps less than twice its bytes. */
  readonly #pages: (Page | undefined)[] = [];
  /** The page of the last write. */
  #power = 0;

  /**
   * Returns the frames of messages, `bytes` in all, valid until the next write unless detached. The list must not change after this.
   * @param hasFrames false: their bytes without the headers of WebSocket frames
   */
  write(messages: readonly Message[], bytes: number, hasFrames = true): Buffer {
    this.#power = 32 - Math.clz32(bytes - 1);
    const page = (this.#pages[this.#power] ??= emptyPage(2 ** this.#power));
    if (hasFrames === page.hasFrames && haveEqualLayout(messages, page.messages))
      overwrite(page.memory, messages, page.messages, hasFrames);
    else {
      writeFrames(page.memory, messages, hasFrames);
      page.frames = page.memory.subarray(0, bytes);
    }
    page.messages = messages;
    page.hasFrames = hasFrames;
    return page.frames;
  }

  /** Leaves the frames of the last write to a socket that has not accepted them yet. */
  detach(): void {
    this.#pages[this.#power] = undefined;
  }
}

function emptyPage(size: number): Page {
  const memory = Buffer.allocUnsafeSlow(size);
  return { memory, messages: [], frames: memory, hasFrames: true };
}
