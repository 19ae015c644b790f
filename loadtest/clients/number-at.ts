/** Digits of the number in each copy of a record. */
export const NUMBER_DIGITS = 7;

/**
 * Reads a number of `NUMBER_DIGITS` digits at a fixed distance from the end of each message, across any chunk boundaries. From the end,
 * because crier's cursors stand before it and grow with their offsets.
 */
export class NumberAt {
  readonly #toEnd: number;
  #value = 0;
  #digits = 0;

  /** `toEnd`: bytes from the first digit, inclusive, to the end of the message. */
  constructor(toEnd: number) {
    this.#toEnd = toEnd;
  }

  /** `left`: bytes of the message from the start of the chunk. */
  read(chunk: Buffer, left: number): void {
    const position = left - this.#toEnd;
    const from = Math.max(0, position);
    const to = Math.min(chunk.length, position + NUMBER_DIGITS);
    for (let i = from; i < to; i++, this.#digits++) this.#value = this.#value * 10 + chunk[i]! - 48;
  }

  /** The number of the completed message; undefined if it was incomplete. */
  take(): number | undefined {
    const value = this.#digits === NUMBER_DIGITS ? this.#value : undefined;
    this.#value = this.#digits = 0;
    return value;
  }
}
