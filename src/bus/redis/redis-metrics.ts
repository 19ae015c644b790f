import type { MetricsRegistry } from '../../ops/metrics/metrics-registry.ts';
import type { BusObserver } from '../bus.ts';
import type { RedisBus } from './redis-bus.ts';

/** Observes how long messages take over Redis. */
export function roundTripObserver(metrics: MetricsRegistry): Required<Pick<BusObserver, 'onRoundTrip'>> {
  const hop = metrics.stages.of('redis');
  const roundTrips = metrics.histogram({
    name: 'crier_redis_round_trip_seconds',
    help: 'Time from publishing a probe to its arrival on the subscriber link, measured every few seconds.',
    labelName: 'server',
  });
  return {
    onRoundTrip: (server, ms) => {
      // The nodes of a cluster become known later.
      roundTrips.addLabelValues([server]);
      roundTrips.of(server).observe(ms / 1000);
      hop.observe(ms / 1000);
    },
  };
}

export function observeLinks(metrics: MetricsRegistry, bus: Pick<RedisBus, 'links'>): void {
  const seriesOf = (valueOf: (link: (typeof bus.links)[number]) => number) =>
    bus.links.map((link) => ({ labels: { server: link.label, link: link.role }, value: valueOf(link) }));
  metrics.gauges(
    'crier_redis_up',
    '1 while a link to a Redis server is up, else 0.',
    ['server', 'link'],
    () => seriesOf(({ isUp }) => Number(isUp)),
    'min',
  );
  metrics.counter(
    'crier_redis_reconnects_total',
    'Times that a link to a Redis server was up again after it was lost.',
    ['server', 'link'],
    () => seriesOf(({ reconnects }) => reconnects),
  );
}
