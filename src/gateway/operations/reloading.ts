import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LiveOperation } from './live-operation.ts';

export interface ReloadedConnection {
  readonly operations: Iterable<LiveOperation>;
  /** The graph has another `authenticate`. Never rejects. */
  authenticateAgain(): Promise<void>;
}

/** Begun in one turn of the event loop; each takes some 0.05 ms. */
const BEGUN_PER_TURN = 20;
/** Time in ms for one turn: a document that is validated against the graph takes up to some ms. */
const SLICE_MS = 2;
/** Connections or operations that wait for the graph's code at a time: it may ask a backend. */
const MAX_WAITING = 100;

/**
 * Moves all live operations to the graph that the pod serves now, some in each turn of the event loop. Resolves when all have moved or ended.
 * @param isAuthenticated true if this graph or the former one has an `authenticate`: first, all connections are authenticated by this one
 */
export async function reloadOperations(
  connections: Iterable<ReloadedConnection>,
  isAuthenticated: boolean,
): Promise<void> {
  // Connections and operations that begin meanwhile begin with that graph.
  const present = [...connections];
  if (isAuthenticated) await inSlices(present, (connection) => connection.authenticateAgain());
  await inSlices(operationsOf(present), (operation) => operation.reload());
}

function* operationsOf(connections: readonly ReloadedConnection[]): Generator<LiveOperation> {
  for (const { operations } of connections) yield* [...operations];
}

/** @param begin never rejects */
async function inSlices<T>(items: Iterable<T>, begin: (item: T) => Promise<void>): Promise<void> {
  const waiting = new Set<Promise<void>>();
  let begun = 0;
  let turnEndsAt = performance.now() + SLICE_MS;
  for (const item of items) {
    const work: Promise<void> = begin(item).finally(() => waiting.delete(work));
    waiting.add(work);
    if (waiting.size >= MAX_WAITING) await Promise.race(waiting);
    if (++begun % BEGUN_PER_TURN > 0 && performance.now() < turnEndsAt) continue;
    await nextTurn();
    turnEndsAt = performance.now() + SLICE_MS;
  }
  await Promise.all(waiting);
}
