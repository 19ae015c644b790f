import { setTimeout as delay } from 'node:timers/promises';
import { stableMembers } from '../../test/end-to-end/producers.ts';

const TIMEOUT_MS = 60_000;
const POLL_MS = 100;

/** Resolves when a consumer group is stable with this number of members. @throws Error after a minute */
export async function groupOf(brokers: string, group: string, members: number, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS;
  while ((await stableMembers(brokers, group)) !== members) {
    if (performance.now() > deadline) throw new Error(`no stable group of ${members} in ${TIMEOUT_MS} ms`);
    await delay(POLL_MS, undefined, { signal });
  }
}
