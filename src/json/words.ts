import { Buffer } from 'node:buffer';

/** Bytes as little-endian words of four; the last one is filled up with zeros. */
export function wordsOf(bytes: Uint8Array): readonly number[] {
  const padded = Buffer.alloc(Math.ceil(bytes.length / 4) * 4);
  padded.set(bytes);
  return Array.from({ length: padded.length / 4 }, (_, i) => padded.readInt32LE(i * 4));
}
