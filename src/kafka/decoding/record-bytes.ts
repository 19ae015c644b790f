import { UndecodableError } from './decoder.ts';
import type { DecoderOptions } from './decoder.ts';
import type { DecodeReason } from './record.ts';

const NO_BYTES = Buffer.alloc(0);
const TWO_TO_THE_32 = 4_294_967_296;
/** Characters of a text that is decoded here: a call of Buffer costs more. V8 makes a longer concatenation a rope, which costs JSON.stringify more. */
const MAX_SHORT_TEXT = 12;
/** Every number of 6 digits is a float of its own, and every float is that of a number of 9 digits. */
const MIN_FLOAT_DIGITS = 6;
const MAX_FLOAT_DIGITS = 9;

/** The value at the next byte. @param levels of objects and arrays that the value may have */
export type ReadValue = (bytes: RecordBytes, levels: number) => unknown;

/**
 * The bytes of one record, read from left to right. Reading beyond `end` throws UndecodableError, and so does a record whose payload
 * would have more keys, items, enum symbols, decimals and times than JSON text of MAX_RECORD_BYTES can hold: a few bytes of a record may
 * stand for many of them.
 */
export class RecordBytes {
  bytes: Buffer = NO_BYTES;
  at = 0;
  /** Offset after the last byte of the record, or of the message in it that is read. */
  end = 0;
  readonly #maxBytes: number;
  readonly #onOverflow: () => void;
  readonly #mismatch: DecodeReason;
  /** Bytes that what is spent may still take in the payload's text. */
  #room = 0;
  /** The last varint: 32 bits each. */
  #low = 0;
  #high = 0;

  /** @param mismatch the reason of a record whose bytes are not what their schema says */
  constructor({ limits, onOverflow }: Pick<DecoderOptions, 'limits' | 'onOverflow'>, mismatch: DecodeReason) {
    this.#mismatch = mismatch;
    this.#maxBytes = limits.maxBytes;
    this.#onOverflow = onOverflow;
  }

  load(bytes: Buffer): void {
    this.bytes = bytes;
    this.at = 0;
    this.end = bytes.length;
    this.#room = this.#maxBytes;
  }

  /** kafkajs's values are slices of a whole fetch response. */
  unload(): void {
    this.bytes = NO_BYTES;
  }

  /**
   * Begins an object or an array.
   * @param width of its keys in the payload's text
   */
  enter(levels: number, width: number): void {
    if (levels === 0) throw new UndecodableError('too_deep');
    this.spend(width);
  }

  spend(width: number): void {
    this.#room -= width;
    if (this.#room < 0) throw new UndecodableError('too_large');
  }

  /** Spends the length of a text that may be longer than the bytes that stand for it. */
  charged(text: string): string {
    this.spend(text.length);
    return text;
  }

  /** The bytes are not what their schema says. */
  fail(): never {
    throw new UndecodableError(this.#mismatch);
  }

  /** Reads the length of a message and moves `end` to the message's end. Returns the offset to which `end` is moved back afterwards. */
  startMessage(): number {
    const outer = this.end;
    const length = this.uint32();
    if (length > outer - this.at) this.fail();
    this.end = this.at + length;
    return outer;
  }

  byte(): number {
    if (this.at >= this.end) this.fail();
    return this.bytes[this.at++]!;
  }

  /** Returns the offset of the next bytes. */
  skip(length: number): number {
    const start = this.at;
    if (length > this.end - start) this.fail();
    this.at = start + length;
    return start;
  }

  uint32(): number {
    this.#readVarint();
    return this.#low >>> 0;
  }

  int32(): number {
    this.#readVarint();
    return this.#low;
  }

  boolean(): boolean {
    this.#readVarint();
    return (this.#low | this.#high) !== 0;
  }

  zigzag32(): number {
    const bits = this.uint32();
    return (bits >>> 1) ^ -(bits & 1);
  }

  /** Like the other integers of 64 bits: a number, or a string if a double would lose digits. */
  int64(): number | string {
    this.#readVarint();
    return signed(this.#low, this.#high);
  }

  uint64(): number | string {
    this.#readVarint();
    return unsigned(this.#low, this.#high);
  }

  zigzag64(): number | string {
    const byte = this.bytes[this.at]!;
    if (byte < 0x80 && this.at < this.end) {
      this.at++;
      return (byte >>> 1) ^ -(byte & 1);
    }
    this.#readVarint();
    const low = this.#low;
    const high = this.#high;
    const sign = -(low & 1);
    return signed(((low >>> 1) | (high << 31)) ^ sign, (high >>> 1) ^ sign);
  }

  fixed32(): number {
    return this.bytes.readUInt32LE(this.skip(4));
  }

  signedFixed32(): number {
    return this.bytes.readInt32LE(this.skip(4));
  }

  fixed64(): number | string {
    const start = this.skip(8);
    return unsigned(this.bytes.readInt32LE(start), this.bytes.readInt32LE(start + 4));
  }

  signedFixed64(): number | string {
    const start = this.skip(8);
    return signed(this.bytes.readInt32LE(start), this.bytes.readInt32LE(start + 4));
  }

  /** A number of at most 9 digits that is this float, as Java and Python print it: 0.1, not 0.10000000149011612. */
  float(): number | null {
    const value = this.bytes.readFloatLE(this.skip(4));
    if (value === (value | 0)) return value;
    if (!Number.isFinite(value)) return this.beyondJson();
    let short = value;
    for (let digits = MIN_FLOAT_DIGITS; digits <= MAX_FLOAT_DIGITS; digits++) {
      short = Number(value.toPrecision(digits));
      if (Math.fround(short) === value) break;
    }
    return short;
  }

  double(): number | null {
    return this.finite(this.bytes.readDoubleLE(this.skip(8)));
  }

  finite(value: number): number | null {
    return Number.isFinite(value) ? value : this.beyondJson();
  }

  /** JSON cannot print the value. */
  beyondJson(): null {
    this.#onOverflow();
    return null;
  }

  text(length: number): string {
    const start = this.skip(length);
    if (length > MAX_SHORT_TEXT) return this.bytes.toString('utf8', start, this.at);
    let text = '';
    for (let i = start; i < this.at; i++) {
      const byte = this.bytes[i]!;
      if (byte >= 0x80) return this.bytes.toString('utf8', start, this.at);
      text += String.fromCharCode(byte);
    }
    return text;
  }

  base64(length: number): string {
    const start = this.skip(length);
    return this.bytes.toString('base64', start, this.at);
  }

  #readVarint(): void {
    let low = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.byte();
      low |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.#low = low;
        this.#high = 0;
        return;
      }
    }
    let byte = this.byte();
    this.#low = low | (byte << 28);
    let high = (byte & 0x7f) >>> 4;
    for (let shift = 3; byte >= 0x80; shift += 7) {
      if (shift > 31) this.fail();
      byte = this.byte();
      high |= (byte & 0x7f) << shift;
    }
    this.#high = high;
  }
}

function signed(low: number, high: number): number | string {
  const value = high * TWO_TO_THE_32 + (low >>> 0);
  return Number.isSafeInteger(value) ? value : String((BigInt(high) << 32n) | BigInt(low >>> 0));
}

function unsigned(low: number, high: number): number | string {
  const value = (high >>> 0) * TWO_TO_THE_32 + (low >>> 0);
  return Number.isSafeInteger(value) ? value : String((BigInt(high >>> 0) << 32n) | BigInt(low >>> 0));
}
