import type { Writable } from 'node:stream';

/** More is written at once: Redis then works on it while the rest is prepared. */
const MAX_GATHERED_BYTES = 65_536;

/**
 * Call before a command of this size is written: the small commands of one turn leave in one write. Redis then runs them in one turn, and
 * their replies and messages arrive in one read each.
 */
export function gatherWrite(stream: Writable, bytes: number): void {
  if (stream.writableLength + bytes > MAX_GATHERED_BYTES) {
    stream.uncork();
  } else if (stream.writableCorked === 0) {
    stream.cork();
    process.nextTick(() => stream.uncork());
  }
}
