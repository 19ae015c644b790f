import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Divides a long work over turns of the event loop. The function that it returns is called after each part, and returns a promise of the next
 * turn if this one has lasted for a slice, else undefined.
 */
export function turnPause(sliceMs: number): () => Promise<void> | undefined {
  let turnEndsAt = performance.now() + sliceMs;
  const pause = async () => {
    await nextTurn();
    turnEndsAt = performance.now() + sliceMs;
  };
  return () => (performance.now() < turnEndsAt ? undefined : pause());
}
