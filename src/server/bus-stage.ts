import { busObserver } from '../bus/bus-metrics.ts';
import type { Bus } from '../bus/bus.ts';
import type { RoleServices } from './services.ts';

type BusServices = Pick<RoleServices, 'config' | 'log' | 'metrics' | 'register'>;

/**
 * The bus over the Redis of REDIS_URL, or in memory in the embedded mode, and its metrics.
 * @throws ConfigError for files and credentials of Redis that cannot be used
 */
export async function openBus({ config, log, metrics, register }: BusServices): Promise<Bus> {
  const observer = busObserver(metrics);
  const flowPatienceMs = config.FLOW_TARGET_MS > 0 ? config.FLOW_PATIENCE_MS : undefined;
  const url = config.REDIS_URL;
  const options = { prefix: config.CHANNEL_PREFIX, log, observer, flowPatienceMs };
  if (config.isEmbedded) return register(new (await import('../bus/memory/memory-bus.ts')).MemoryBus(options));
  const [{ RedisAccess }, { RedisBus }, { observeLinks, roundTripObserver }] = await Promise.all([
    import('../bus/redis/redis-access.ts'),
    import('../bus/redis/redis-bus.ts'),
    import('../bus/redis/redis-metrics.ts'),
  ]);
  const access = register(await RedisAccess.open(config, log));
  access.watch();
  const bus = register(
    new RedisBus({ ...options, url, access, observer: { ...observer, ...roundTripObserver(metrics) } }),
  );
  observeLinks(metrics, bus);
  return bus;
}
