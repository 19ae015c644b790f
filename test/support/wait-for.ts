import { setTimeout as delay } from 'node:timers/promises';

/**
 * Calls `condition` every 10 ms and resolves with its first truthy result.
 * @throws Error that names the condition, after `timeoutMs` (default 10 s).
 */
export async function waitFor<T>(
  what: string,
  condition: () => T | Promise<T>,
  timeoutMs = 10_000,
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await condition();
    if (answer) return answer;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for: ${what}`);
    await delay(10);
  }
}
