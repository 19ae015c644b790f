import { setTimeout as delay } from 'node:timers/promises';

/** A connection, as the drain sees it. */
export interface DrainedConnection {
  readonly isEnded: boolean;
  /** Closes it with 1001 once its mutations are answered. */
  leave(reason: string): void;
}

export const DRAIN_REASON = 'The server is shutting down';

/** Interval between two slices of closes, in ms. */
const SLICE_MS = 50;

/**
 * Makes connections leave in random order, spread evenly over `spreadMs`, so that their clients do not reconnect at once. No subscription
 * receives a `complete`: a stock client would not subscribe again. Resolves when all are leaving or have left; once `fastShutdown` is aborted,
 * the rest leaves at once.
 * @param onClose called for each connection that the drain closes
 */
export async function drain(
  connections: readonly DrainedConnection[],
  spreadMs: number,
  fastShutdown: AbortSignal,
  onClose: () => void,
): Promise<void> {
  const order = shuffled(connections);
  const startedAt = performance.now();
  let next = 0;
  const closeUntil = (end: number) => {
    for (; next < end; next++) {
      const connection = order[next]!;
      if (connection.isEnded) continue;
      connection.leave(DRAIN_REASON);
      onClose();
    }
  };
  while (next < order.length) {
    const elapsedMs = performance.now() - startedAt;
    closeUntil(fastShutdown.aborted ? order.length : closesDue(order.length, elapsedMs, spreadMs));
    // Clients that left by themselves are not waited for.
    while (order[next]?.isEnded) next++;
    if (next < order.length) await delay(SLICE_MS, undefined, { signal: fastShutdown }).catch(() => undefined);
  }
}

/** Connections, of `count`, that are closed in the slice that begins `elapsedMs` after the start, and before it. */
export function closesDue(count: number, elapsedMs: number, spreadMs: number): number {
  return Math.ceil(count * Math.min(1, (elapsedMs + SLICE_MS) / spreadMs));
}

/** Fisher–Yates. */
function shuffled<T>(items: readonly T[]): T[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1));
    [result[last], result[other]] = [result[other]!, result[last]!];
  }
  return result;
}
