import { Redis } from 'ioredis';
import type { RedisServer } from '../../stack/redis-server.ts';

/** Moves a slot of a Redis Cluster with all its keys, as `redis-cli --cluster reshard` does. */
export async function moveSlot(slot: number, from: RedisServer, to: RedisServer): Promise<void> {
  const [source, target] = [new Redis(from.url), new Redis(to.url)];
  try {
    const [sourceId, targetId] = await Promise.all([source.cluster('MYID'), target.cluster('MYID')]);
    await target.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', sourceId);
    await source.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', targetId);
    for (;;) {
      const keys = (await source.call('CLUSTER', 'GETKEYSINSLOT', slot, 100)) as string[];
      if (keys.length === 0) break;
      await source.call('MIGRATE', '127.0.0.1', to.port, '', 0, 5_000, 'KEYS', ...keys);
    }
    await target.call('CLUSTER', 'SETSLOT', slot, 'NODE', targetId);
    await source.call('CLUSTER', 'SETSLOT', slot, 'NODE', targetId);
  } finally {
    source.disconnect();
    target.disconnect();
  }
}
