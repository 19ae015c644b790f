import { cpuMs } from './process-usage.ts';

/** What an action took: time, and CPU time of each Redis server and of this process. */
export type Cost = Awaited<ReturnType<typeof costOf>>;

/** What `act` takes: time, and CPU of the servers and of this process. */
export async function costOf(pids: readonly number[], act: () => Promise<void>) {
  const read = () => ({ at: performance.now(), redis: pids.map(cpuMs), own: process.cpuUsage() });
  const before = read();
  await act();
  const after = read();
  return {
    durationMs: after.at - before.at,
    redisMs: after.redis.map((ms, i) => ms - before.redis[i]!),
    ownMs: (after.own.user + after.own.system - before.own.user - before.own.system) / 1000,
  };
}
