/** Digits of the numbers that copies of a record carry. */
export const NUMBER_DIGITS = 7;

/**
 * Reads the number of `NUMBER_DIGITS` digits that stands as far from the end in every message, however the message is cut into
 * chunks. From the end, because crier's cursors stand in front, and grow with their offsets.
 */
export class NumberAt {
  readonly #toEnd: number;
  #value = 0;
  #digits = 0;

  /** `toEnd`: bytes from the first digit to the message's end, that digit included. */
  constructor(toEnd: number) {
    this.#toEnd = toEnd;
  }

  /** `left`: bytes of the message from the chunk's first on. */
  read(chunk: Buffer, left: number): void {
    const position = left - this.#toEnd;
    const from = Math.max(0, position);
    const to = Math.min(chunk.length, position + NUMBER_DIGITS);
    for (let i = from; i < to; i++, this.#digits++) this.#value = this.#value * 10 + chunk[i]! - 48;
  }

  /** The number of the message that has ended; undefined where it was not read whole. */
  take(): number | undefined {
    const value = this.#digits === NUMBER_DIGITS ? this.#value : undefined;
    this.#value = this.#digits = 0;
    return value;
  }
}
