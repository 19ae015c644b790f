import { RedisBus } from '../bus/redis/redis-bus.ts';
import type { Metrics } from '../ops/metrics/metrics.ts';

/** The bus over Redis, and its metrics. */
export function createRedisBus(options: ConstructorParameters<typeof RedisBus>[0], metrics: Metrics): RedisBus {
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
