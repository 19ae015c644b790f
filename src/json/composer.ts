import { Buffer, isAscii } from 'node:buffer';
import { wordsOf } from './words.ts';

/** Bytes that are written again and again. */
export interface Snippet {
  readonly length: number;
  readonly words: readonly number[];
}

export function snippet(text: string): Snippet {
  const bytes = Buffer.from(text);
  return { length: bytes.length, words: wordsOf(bytes) };
}

/** Words are written whole, the last one also beyond its snippet. */
const PADDING = 8;
/** UTF-8 of one UTF-16 code unit, at most. */
const MAX_BYTES_PER_UNIT = 3;

/**
 * Puts a text together out of snippets and of parts of another text, in memory that each text uses again. That is faster than
 * strings, which are put together when somebody reads them, and than to ask the runtime for a copy of each short part.
 */
export class Composer {
  readonly #size: number;
  #bytes: Buffer;
  #view: DataView;
  #length = 0;

  /** `size`: of the memory that it keeps; it grows for a longer text, and until the next one. */
  constructor(size: number) {
    this.#size = size + PADDING;
    this.#bytes = Buffer.alloc(this.#size);
    this.#view = viewOf(this.#bytes);
  }

  get length(): number {
    return this.#length;
  }

  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > this.#size) this.#resize(this.#size);
  }

  /** An ASCII character. */
  byte(code: number): void {
    this.#reserve(1);
    this.#view.setUint8(this.#length++, code);
  }

  snippet({ length, words }: Snippet): void {
    this.#reserve(length);
    const view = this.#view;
    let to = this.#length;
    for (let i = 0; i < words.length; i++, to += 4) view.setInt32(to, words[i]!, true);
    this.#length += length;
  }

  /** Of a text that has bytes behind `end`, which are read but do not count. */
  copy(source: DataView, start: number, end: number): void {
    this.#reserve(end - start);
    const view = this.#view;
    let to = this.#length;
    for (let from = start; from < end; from += 4, to += 4) view.setInt32(to, source.getInt32(from, true), true);
    this.#length += end - start;
  }

  string(text: string): void {
    this.#reserve(text.length * MAX_BYTES_PER_UNIT);
    this.#length += this.#bytes.write(text, this.#length);
  }

  /** A copy of what there is from an offset on. */
  take(start = 0): Buffer {
    return Buffer.from(this.#bytes.subarray(start, this.#length));
  }

  text(): string {
    const { length } = this;
    return this.#bytes.toString(isAscii(this.#bytes.subarray(0, length)) ? 'latin1' : 'utf8', 0, length);
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes + PADDING;
    if (needed > this.#bytes.length) this.#resize(needed * 2);
  }

  #resize(size: number): void {
    const bytes = Buffer.alloc(size);
    this.#bytes.copy(bytes, 0, 0, this.#length);
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
