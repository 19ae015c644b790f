/** Bytes as little-endian words of four bytes; the last one is padded with zeros. */
export function wordsOf(bytes: Uint8Array): readonly number[] {
  const words: number[] = [];
  // Bytes after the end are undefined, which shifts to 0.
  for (let i = 0; i < bytes.length; i += 4) {
    words.push(bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24));
  }
  return words;
}
