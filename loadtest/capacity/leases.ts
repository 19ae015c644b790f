import { RedisBus } from '../../src/bus/redis/redis-bus.ts';
import { createLog } from '../../src/base/log.ts';
import type { RedisCluster } from '../../stack/redis-cluster.ts';
import { AUCTION_TOPIC } from '../fanout/auction.ts';
import { costOf } from '../processes/cpu-cost.ts';
import { sum } from '../runner/spread.ts';
import type { Figures } from './figures.ts';
import { usedMemory } from './memory.ts';

const PREFIX = 'leases:';
/** As many partitions as a worker publishes at a time. */
const CONCURRENCY = 8;

/** Another worker leases partitions that a first one has leased: 64 scripts each. */
export async function leases({ url, primaries }: RedisCluster, partitions: number): Promise<Figures> {
  const options = { url, prefix: `${PREFIX}${partitions}:`, log: createLog('error') };
  const workers = [new RedisBus(options), new RedisBus(options)] as const;
  const memory = async () => sum(await Promise.all(primaries.map(usedMemory)));
  try {
    const before = await memory();
    await Promise.all(workers.map((worker) => worker.start()));
    await acquireAll(workers[0], partitions);
    const after = await memory();
    const pids = primaries.map(({ process }) => process.pid!);
    const { durationMs, redisMs, ownMs } = await costOf(pids, () => acquireAll(workers[1], partitions));
    return {
      'until all are leased, s': durationMs / 1000,
      'worker CPU ms/partition': ownMs / partitions,
      'Redis CPU ms/partition': sum(redisMs) / partitions,
      'busiest shard ms/partition': Math.max(...redisMs) / partitions,
      'Redis bytes/partition': (after - before) / partitions,
    };
  } finally {
    for (const worker of workers) await worker.close();
  }
}

async function acquireAll(worker: RedisBus, partitions: number): Promise<void> {
  let next = 0;
  const acquireSome = async () => {
    while (next < partitions) await worker.acquire({ topic: AUCTION_TOPIC, partition: next++, position: -1 });
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, acquireSome));
}
