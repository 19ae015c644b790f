import { hash } from 'node:crypto';

/** Of SHA-256, in bytes. */
const BLOCK = 64;
const DIGEST = 32;

/**
 * HMAC-SHA-256 (https://www.rfc-editor.org/rfc/rfc2104#section-2), made of two one-shot hashes: `createHmac` makes native objects
 * for each text, which the garbage collector pays for once more.
 */
export class Mac {
  /** The key's inner block, then the text; grows with the longest text. */
  #inner: Buffer;
  /** The key's outer block, then the inner hash. */
  readonly #outer = Buffer.alloc(BLOCK + DIGEST, 0x5c);

  constructor(secret: string) {
    const bytes = Buffer.from(secret);
    const key = bytes.length > BLOCK ? hash('sha256', bytes, 'buffer') : bytes;
    this.#inner = Buffer.alloc(BLOCK, 0x36);
    for (const [i, byte] of key.entries()) {
      this.#inner[i]! ^= byte;
      this.#outer[i]! ^= byte;
    }
  }

  /** As base64url. */
  of(text: string): string {
    const most = BLOCK + text.length * 3;
    if (this.#inner.length < most) this.#inner = Buffer.concat([this.#inner], most);
    const end = BLOCK + this.#inner.write(text, BLOCK);
    // As text: a Buffer of its own would cost more than it takes to read it.
    this.#outer.write(hash('sha256', this.#inner.subarray(0, end)), BLOCK, 'hex');
    return hash('sha256', this.#outer, 'base64url');
  }
}
