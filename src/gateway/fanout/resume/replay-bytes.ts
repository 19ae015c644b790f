/** Default bound of a pod. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;

/**
 * Counts the bytes of events that a pod holds for clients: live events after a replay or a backfill, histories that are replayed, and results
 * of replayed events. One bound for all channels. An event that waits for many clients counts once.
 */
export class HeldBytes {
  /** Called when it becomes short. */
  onShort: (() => void) | undefined;
  readonly #max: number;
  #used = 0;

  constructor(max = MAX_HELD_BYTES) {
    this.#max = max;
  }

  get used(): number {
    return this.#used;
  }

  /** More than half is used: replays no longer wait for lagging sockets. */
  get isShort(): boolean {
    return this.#used > this.#max / 2;
  }

  /** Less than a quarter is used: reads and results may be kept for later clients, to save work. */
  get isAmple(): boolean {
    return this.#used < this.#max / 4;
  }

  hasRoom(bytes: number): boolean {
    return this.#used + bytes <= this.#max;
  }

  /** Counts bytes. Returns false, and counts nothing, if they exceed the bound. */
  reserve(bytes: number): boolean {
    if (!this.hasRoom(bytes)) return false;
    this.add(bytes);
    return true;
  }

  /** Counts bytes that are in memory already, also beyond the bound. */
  add(bytes: number): void {
    const wasShort = this.isShort;
    this.#used += bytes;
    if (!wasShort && this.isShort) this.onShort?.();
  }

  release(bytes: number): void {
    this.#used -= bytes;
  }
}
