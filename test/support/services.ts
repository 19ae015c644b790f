import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { startKafkaBroker } from '../../stack/kafka-broker.ts';
import { startRedisCluster } from '../../stack/redis-cluster.ts';
import type { RedisCluster, RedisClusterOptions } from '../../stack/redis-cluster.ts';
import { startRedisServer } from '../../stack/redis-server.ts';
import type { RedisServer } from '../../stack/redis-server.ts';

/** A unique name for topics, groups and channel prefixes. */
export function randomName(prefix = 'test'): string {
  return `${prefix}-${randomBytes(6).toString('hex')}`;
}

/** The Kafka of this test run (`npm test` starts one for all files), or one of this test's own. Its `host:port`. */
export async function kafkaBrokers(t: { after(fn: () => Promise<void>): void }): Promise<string> {
  if (process.env['TEST_KAFKA_BROKERS']) return process.env['TEST_KAFKA_BROKERS'];
  const broker = await startKafkaBroker();
  t.after(() => broker.stop());
  return broker.address;
}

/** Starts a Redis for this test, stopped at its end. The test may stop it and start it again on its port. */
export async function redisServer(
  t: TestContext,
  options: Parameters<typeof startRedisServer>[0] = {},
): Promise<RedisServer> {
  const server = await startRedisServer(options);
  t.after(() => server.stop());
  return server;
}

/** Starts a Redis Cluster for this test, stopped at its end. */
export async function redisCluster(t: TestContext, options: RedisClusterOptions = {}): Promise<RedisCluster> {
  const cluster = await startRedisCluster(options);
  t.after(() => cluster.stop());
  return cluster;
}
