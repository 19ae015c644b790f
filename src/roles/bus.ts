import type { Bus } from '../bus/bus.ts';
import { MemoryBus } from '../bus/memory/memory-bus.ts';
import { RedisAccess } from '../bus/redis/redis-access.ts';
import { RedisBus } from '../bus/redis/redis-bus.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { RoleServices } from './services.ts';

type BusServices = Pick<RoleServices, 'config' | 'log' | 'metrics' | 'register'>;

/**
 * The bus over the Redis of REDIS_URL, or in memory without one, and its metrics.
 * @throws ConfigError for files and credentials of Redis that cannot be used
 */
export async function openBus({ config, log, metrics, register }: BusServices): Promise<Bus> {
  const observer = {
    onPublish: (messages: number) => metrics.messagesPublished.inc(messages),
    onPublishFailure: (_messages: number, reason: string) => metrics.publishFailures.inc({ reason }),
    onGap: () => metrics.busGaps.inc(),
  };
  const flowPatienceMs = config.FLOW_TARGET_MS > 0 ? config.FLOW_PATIENCE_MS : undefined;
  const options = { prefix: config.CHANNEL_PREFIX, log, observer, flowPatienceMs };
  const url = config.REDIS_URL;
  if (url === '') return register(new MemoryBus(options));
  const access = register(await RedisAccess.open(config, log));
  access.watch();
  return register(createRedisBus({ ...options, url, access }, metrics));
}

function createRedisBus(options: ConstructorParameters<typeof RedisBus>[0], metrics: Metrics): RedisBus {
  const hop = metrics.stages.of('redis');
  const onRoundTrip = (server: string, ms: number) => {
    // The nodes of a cluster become known later.
    roundTrips.addLabelValues([server]);
    roundTrips.of(server).observe(ms / 1000);
    hop.observe(ms / 1000);
  };
  const bus = new RedisBus({ ...options, observer: { ...options.observer, onRoundTrip } });
  const roundTrips = metrics.histogram({
    name: 'crier_redis_round_trip_seconds',
    help: 'Time from publishing a probe to its arrival on the subscriber link, measured every few seconds.',
    labelName: 'server',
  });
  const seriesOf = (valueOf: (link: (typeof bus.links)[number]) => number) =>
    bus.links.map((link) => ({ labels: { server: link.label, link: link.role }, value: valueOf(link) }));
  metrics.gauges('crier_redis_up', '1 while a link to a Redis server is up, else 0.', ['server', 'link'], () =>
    seriesOf(({ isUp }) => Number(isUp)),
  );
  metrics.counter(
    'crier_redis_reconnects_total',
    'Times that a link to a Redis server was up again after it was lost.',
    ['server', 'link'],
    () => seriesOf(({ reconnects }) => reconnects),
  );
  return bus;
}
