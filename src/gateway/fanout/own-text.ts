import { parseExactly } from '../../base/json/exact-numbers.ts';

/**
 * The JSON text of another program's message, as crier writes JSON: each key once, no number that a double cannot hold, UTF-8. Fields without a
 * resolver are copied from this text, and must be what a parser reads.
 * @returns undefined if it is not JSON, is nested too deep or is longer than `maxBytes`
 */
export function ownText(message: Buffer, maxBytes: number): Buffer | undefined {
  if (message.length > maxBytes) return undefined;
  try {
    return Buffer.from(JSON.stringify(parseExactly(message.toString())));
  } catch {
    return undefined;
  }
}
