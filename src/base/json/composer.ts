import { Buffer } from 'node:buffer';
import { wordsOf } from './words.ts';

/** Bytes that are written often, as words. */
export interface Snippet {
  readonly length: number;
  readonly words: readonly number[];
}

export function snippet(text: string): Snippet {
  const bytes = Buffer.from(text);
  return { length: bytes.length, words: wordsOf(bytes) };
}

/** Whole words are written, so the last one may reach beyond its snippet. */
const PADDING = 8;
/** Of memory that short texts share. An allocation for each text costs more than its copy. */
const SHARED_BYTES = 64 * 1024;
/** UTF-8 of one UTF-16 code unit, at most. */
const MAX_BYTES_PER_UNIT = 3;

/**
 * Builds a text from snippets and parts of another text, in memory that every text reuses. That is faster than concatenating
 * strings, which V8 flattens when they are read, and than a call of `Buffer.copy` for each short part.
 */
export class Composer {
  readonly #size: number;
  #bytes: Buffer;
  #view: DataView;
  #length = 0;
  #shared = Buffer.alloc(0);
  /** Offset in the shared memory up to which it is taken. */
  #taken = 0;

  /** @param size of the memory that is kept; it grows for a longer text, until the next `clear` */
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

  /** Copies a part of a text. Up to 3 bytes after `end` are read, so the text needs padding. */
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

  /** A copy of the text from an offset on. */
  take(start = 0): Buffer {
    return Buffer.from(this.#bytes.subarray(start, this.#length));
  }

  /** Removes what follows an offset. */
  cut(length: number): void {
    this.#length = length;
  }

  /** A copy of the text in memory that it shares with other copies, and keeps alive: for texts that are soon forgotten together. */
  takeShared(): Buffer {
    const start = this.#taken + this.#length <= this.#shared.length ? this.#taken : 0;
    if (start === 0) this.#shared = Buffer.allocUnsafeSlow(Math.max(this.#length, SHARED_BYTES));
    this.#bytes.copy(this.#shared, start, 0, this.#length);
    this.#taken = start + this.#length;
    return this.#shared.subarray(start, this.#taken);
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
