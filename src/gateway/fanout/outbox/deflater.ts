import { constants, deflateRawSync } from 'node:zlib';
import { MAX_STORED_BYTES, ResultBytes } from './frame.ts';

/** A result that only one connection receives is compressed from this many times the bytes of a shared one: each pays for itself. */
const OWN_FACTOR = 8;
/** An empty stored block, with which a flushed stream ends and a compressed message does not (RFC 7692 section 7.2.1). */
const FLUSH_BYTES = 4;
/**
 * log2 of the bytes that a compressed result refers back to at most. zlib clears its tables for each result, so a small window is cheaper: 35 instead
 * of 49 µs for 2 KB. JSON repeats itself nearby: 0.8 MB of it become no smaller with a window of 15 bits.
 */
export const WINDOW_BITS = 12;
const ALONE = { windowBits: WINDOW_BITS, memLevel: 5, finishFlush: constants.Z_SYNC_FLUSH };
/** For a text after another: both fit into the window if they have 32 KB together. */
const AFTER_ANOTHER = { windowBits: 15, memLevel: 8, finishFlush: constants.Z_SYNC_FLUSH };
/** Bytes by which a text of any size that zlib takes as a whole may grow; beyond it zlib needs a second buffer. */
const MAX_GROWTH = 64;

/** No byte of UTF-8. It stands for a prefix, which differs between subscriptions, so that nothing refers to it. */
const NO_TEXT = 0xff;
/** A longer text would push what repeats out of the window. */
const MAX_REMEMBERED_TEXT = 16 * 1024;
/** Texts that later ones may refer to, of a pod. */
const MAX_REMEMBERED = 512;
/** Compressed forms of one result beside the one that refers to nothing: one for each length of ids, and each text before it. */
const MAX_FORMS = 4;

/** A shared result and its compressed forms. */
interface SharedText {
  /** Names the text; from 1. */
  readonly number: number;
  readonly text: Buffer;
  /** Refers to no other text. */
  readonly alone: ResultBytes;
  /** By what precedes the text in the client's window. */
  readonly forms: Map<number, ResultBytes>;
}

/**
 * Compresses results for permessage-deflate (RFC 7692). The message's prefix, which differs between subscriptions, precedes the result as a stored
 * block (`writeStart`). Blocks may be joined because a stored block ends at a byte, and a compressed result refers to no byte of its
 * prefix. So a shared result is compressed once for all subscriptions.
 *
 * A client that keeps its window between messages (it did not agree on `server_no_context_takeover`) still has the text of the last compressed message.
 * If that was a shared result, the next one refers to it: 2 KB of which one number has changed become 30 bytes instead of 1,055. That takes no
 * memory of a connection but the number of the text, and it is done once for all connections that have the same text before, and an
 * id of the same length between.
 */
export class Deflater {
  /** Bytes of all results that were compressed, each form counted once. */
  inputBytes = 0;
  /** Bytes that these have compressed. */
  outputBytes = 0;
  readonly #minBytes: number;
  readonly #shared = new WeakMap<ResultBytes, SharedText>();
  /** The last shared texts, by number. */
  readonly #remembered = new Map<number, Buffer>();
  #lastNumber = 0;

  /** @param minBytes of a shared result that is compressed */
  constructor(minBytes: number) {
    this.#minBytes = minBytes;
  }

  /**
   * The compressed result; the result itself if it is too small, or would not become smaller.
   * @param before the `textNumber` of the last compressed message that the client has received; 0: the result must refer to nothing
   */
  deflated(result: ResultBytes, prefixBytes: number, before = 0): ResultBytes {
    if (result.length < this.#minBytes || prefixBytes > MAX_STORED_BYTES) return result;
    if (result.isShared) return this.#formOf(result, prefixBytes, before);
    return result.length < this.#minBytes * OWN_FACTOR ? result : this.#compress(result, Buffer.concat(result.pieces));
  }

  #formOf(result: ResultBytes, prefixBytes: number, before: number): ResultBytes {
    let shared = this.#shared.get(result);
    if (!shared) this.#shared.set(result, (shared = this.#share(result)));
    if (before === 0 || shared.number === 0) return shared.alone;
    const key = before * (MAX_STORED_BYTES + 1) + prefixBytes;
    const known = shared.forms.get(key);
    if (known) return known;
    const text = this.#remembered.get(before);
    if (text === undefined || shared.forms.size >= MAX_FORMS) return shared.alone;
    const dictionary = Buffer.alloc(text.length + prefixBytes, NO_TEXT);
    dictionary.set(text);
    const form = this.#compress(result, shared.text, shared.number, dictionary);
    shared.forms.set(key, form);
    return form;
  }

  #share(result: ResultBytes): SharedText {
    const text = Buffer.concat(result.pieces);
    const isRemembered = text.length <= MAX_REMEMBERED_TEXT && !text.includes(NO_TEXT);
    const number = isRemembered ? ++this.#lastNumber : 0;
    if (isRemembered) {
      this.#remembered.set(number, text);
      this.#remembered.delete(number - MAX_REMEMBERED);
    }
    return { number, text, alone: this.#compress(result, text, number), forms: new Map() };
  }

  /** @param dictionary what the client's window ends with; undefined: nothing that may be referred to */
  #compress(result: ResultBytes, text: Buffer, number = 0, dictionary?: Buffer): ResultBytes {
    const options = dictionary ? { ...AFTER_ANOTHER, dictionary } : ALONE;
    const flushed = deflateRawSync(text, { ...options, chunkSize: text.length + MAX_GROWTH });
    const bytes = flushed.length - FLUSH_BYTES;
    this.inputBytes += text.length;
    this.outputBytes += Math.min(bytes, text.length);
    if (bytes >= text.length) return result;
    // A copy: the memory of `flushed` is as large as the text.
    const compressed = new ResultBytes([Buffer.from(flushed.subarray(0, bytes))], result.times, true);
    compressed.textNumber = number;
    return compressed;
  }
}
