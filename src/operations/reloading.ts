import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LiveOperation } from './live-operation.ts';

/** Operations that are reloaded in one turn of the event loop; each takes some 0.05 ms. */
const RELOADED_PER_TURN = 20;
/** Time in ms for one turn: a document that is validated against the graph takes up to some ms. */
const SLICE_MS = 2;
/** Operations that wait for the graph's code at a time: it may ask a backend. */
const MAX_WAITING = 100;

/** Moves all live operations to the graph that the pod serves now, some in each turn of the event loop. Resolves when all have moved or ended. */
export async function reloadOperations(
  connections: Iterable<{ readonly operations: Iterable<LiveOperation> }>,
): Promise<void> {
  const waiting = new Set<Promise<void>>();
  let reloaded = 0;
  let turnEndsAt = performance.now() + SLICE_MS;
  // Operations that begin meanwhile begin with that graph.
  for (const { operations } of [...connections]) {
    for (const operation of [...operations]) {
      const reloading: Promise<void> = operation.reload().finally(() => waiting.delete(reloading));
      waiting.add(reloading);
      if (waiting.size >= MAX_WAITING) await Promise.race(waiting);
      if (++reloaded % RELOADED_PER_TURN > 0 && performance.now() < turnEndsAt) continue;
      await nextTurn();
      turnEndsAt = performance.now() + SLICE_MS;
    }
  }
  await Promise.all(waiting);
}
