/** Digits of the numbers that copies of a record carry. */
export const NUMBER_DIGITS = 7;

/** Reads the number of `NUMBER_DIGITS` digits that stands at one place of every message, however the message is cut into chunks. */
export class NumberAt {
  readonly #position: number;
  #value = 0;
  #digits = 0;

  /** `position`: of the first digit, in bytes from the message's start. */
  constructor(position: number) {
    this.#position = position;
  }

  /** `offset`: of the chunk in its message. */
  read(chunk: Buffer, offset: number): void {
    const from = Math.max(0, this.#position - offset);
    const to = Math.min(chunk.length, this.#position + NUMBER_DIGITS - offset);
    for (let i = from; i < to; i++, this.#digits++) this.#value = this.#value * 10 + chunk[i]! - 48;
  }

  /** The number of the message that has ended; undefined where it was not read whole. */
  take(): number | undefined {
    const value = this.#digits === NUMBER_DIGITS ? this.#value : undefined;
    this.#value = this.#digits = 0;
    return value;
  }
}
