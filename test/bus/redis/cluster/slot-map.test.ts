import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Redis } from 'ioredis';
import { startRedisCluster } from '../../../../stack/redis-cluster.ts';
import type { RedisCluster } from '../../../../stack/redis-cluster.ts';
import { addressText } from '../../../../src/config/addresses/redis-address.ts';
import { readSlotMap } from '../../../../src/bus/redis/cluster/slot-map.ts';

describe('readSlotMap', () => {
  let cluster: RedisCluster;
  let client: Redis;

  before(async () => {
    cluster = await startRedisCluster({ replicas: 0 });
    client = new Redis(cluster.primaries[0]!.url);
  });
  after(async () => {
    client.disconnect();
    await cluster.stop();
  });

  const CASES: readonly (readonly [type: string, host: string, what: string])[] = [
    ['ip', '127.0.0.1', 'at the addresses that the cluster announces'],
    ['hostname', '127.0.0.1', 'at its address where the cluster prefers a host name, and the node announces none'],
    ['unknown-endpoint', 'localhost', 'at the host of the asked node where the cluster announces no hosts'],
  ];

  for (const [type, host, what] of CASES) {
    it(`finds each node ${what}`, async () => {
      await client.config('SET', 'cluster-preferred-endpoint-type', type);
      const { nodes } = await readSlotMap(client, { host: 'localhost', port: cluster.primaries[0]!.port });
      const ports = cluster.primaries.map(({ port }) => port);
      assert.deepEqual(nodes.map(addressText).sort(), ports.map((port) => `${host}:${port}`).sort());
    });
  }
});
