import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';

/** Most conditions are true within a few turns of the event loop; a timer would idle for each of them. */
const TURNS = 20;

/**
 * Calls `condition` in 20 turns of the event loop, then every 10 ms, and resolves with its first truthy result.
 * @throws Error that names the condition, after `timeoutMs` (default 10 s).
 */
export async function waitFor<T>(
  what: string,
  condition: () => T | Promise<T>,
  timeoutMs = 10_000,
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs;
  for (let turns = 0; ; turns++) {
    const answer = await condition();
    if (answer) return answer;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for: ${what}`);
    await (turns < TURNS ? nextTurn() : delay(10));
  }
}
