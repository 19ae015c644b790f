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

/**
 * Puts a text together out of snippets and of parts of another text, in memory that each text uses again. It is faster than
 * strings (which are put together when somebody reads them) and than a copy by the runtime for each short part.
 *
 * Who writes sees to it that there is room.
 */
export class Composer {
  readonly bytes: Buffer;
  readonly #view: DataView;
  #length = 0;

  /** `size`: the longest text, in bytes. */
  constructor(size: number) {
    this.bytes = Buffer.alloc(size + PADDING);
    this.#view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length);
  }

  get length(): number {
    return this.#length;
  }

  clear(): void {
    this.#length = 0;
  }

  /** An ASCII character. */
  byte(code: number): void {
    this.#view.setUint8(this.#length++, code);
  }

  snippet({ length, words }: Snippet): void {
    let to = this.#length;
    for (let i = 0; i < words.length; i++, to += 4) this.#view.setInt32(to, words[i]!, true);
    this.#length += length;
  }

  /** Of a text that has bytes behind `end`, which are read but do not count. */
  copy(source: DataView, start: number, end: number): void {
    const view = this.#view;
    let to = this.#length;
    for (let from = start; from < end; from += 4, to += 4) view.setInt32(to, source.getInt32(from, true), true);
    this.#length += end - start;
  }

  text(): string {
    const { bytes } = this;
    return bytes.toString(isAscii(bytes.subarray(0, this.#length)) ? 'latin1' : 'utf8', 0, this.#length);
  }
}
