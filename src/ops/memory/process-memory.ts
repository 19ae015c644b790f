import { totalmem } from 'node:os';
import { heapLimit, heapUsed } from './heap-limit.ts';

export interface Share {
  readonly usedBytes: number;
  readonly limitBytes: number;
}

/** Garbage is included: only right after a collection this is what is in use. */
export interface MemoryUse {
  /** The old generation of the heap. */
  readonly heap: Share;
  /** All memory of the process, against its share of the limit of its container; undefined: there is none. */
  readonly process: Share | undefined;
}

/** Reads how much memory this process uses. */
export class ProcessMemory {
  readonly #heapLimitBytes: number;
  readonly #processLimitBytes: number | undefined;
  /** Neither heap nor Buffers: code, stacks and the memory of libraries. */
  readonly #otherBytes: number;

  /**
   * @param nodeOptions NODE_OPTIONS
   * @param shares equal parts of the container's limit, of which this process has one
   */
  constructor(nodeOptions: string, shares = 1) {
    this.#heapLimitBytes = heapLimit(`${nodeOptions} ${process.execArgv.join(' ')}`);
    // Without a limit, Node returns 0 or more than the machine has.
    const limit = process.constrainedMemory();
    this.#processLimitBytes = limit > 0 && limit < totalmem() ? limit / shares : undefined;
    const { rss, heapTotal, external } = process.memoryUsage();
    this.#otherBytes = Math.max(0, rss - heapTotal - external);
  }

  get heapLimitBytes(): number {
    return this.#heapLimitBytes;
  }

  read(): MemoryUse {
    return { heap: { usedBytes: heapUsed(), limitBytes: this.#heapLimitBytes }, process: this.readProcess() };
  }

  /**
   * The resident memory does not shrink when Buffers are freed: the allocator keeps their pages for the next ones. After 270 MB of Buffers of
   * 3 KB were freed, 290 MB stayed resident (Node 20, glibc). So it counts only as far as heap and Buffers explain it.
   */
  readProcess(): Share | undefined {
    if (this.#processLimitBytes === undefined) return undefined;
    const { rss, heapTotal, external } = process.memoryUsage();
    const usedBytes = Math.min(rss, heapTotal + external + this.#otherBytes);
    return { usedBytes, limitBytes: this.#processLimitBytes };
  }
}
