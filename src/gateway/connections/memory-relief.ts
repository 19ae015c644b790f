import type { Relief } from '../../ops/memory/memory-pressure.ts';

/** A connection, as the relief sees it. */
export interface HoldingConnection {
  /** Bytes that its end frees: what waits for its socket, and what its operations keep. */
  readonly heldBytes: number;
  /** Closes it, and drops what waits for it. */
  discard(): void;
}

/** Share of the connections that one relief closes at most: what fills the memory may be something else. */
const MAX_SHARE = 0.1;
/** A connection that holds less is not closed: it did not cause the shortage, and its reconnect would cost as much. */
const MIN_BYTES = 64 * 1024;

/** Closes the connections that hold the most memory, the largest first, until they held `bytes` together. */
export function relieve(connections: Iterable<HoldingConnection>, bytes: number): Relief {
  const holders = Array.from(connections, (connection) => ({ connection, bytes: connection.heldBytes }));
  const largest = holders
    .filter((holder) => holder.bytes >= MIN_BYTES)
    .sort((one, other) => other.bytes - one.bytes)
    .slice(0, Math.ceil(holders.length * MAX_SHARE));
  let freed = 0;
  let closed = 0;
  for (const { connection, bytes: held } of largest) {
    if (freed >= bytes) break;
    connection.discard();
    freed += held;
    closed++;
  }
  return { closed, bytes: freed };
}
