import type { MetricsRegistry } from '../../ops/metrics/metrics-registry.ts';
import type { SubscriptionTally } from '../operations/subscription-tally.ts';
import type { HttpStreams } from '../streams/http-streams.ts';
import type { Callbacks } from '../callback/callbacks.ts';
import type { Connections } from './connections.ts';

/** Counts of what begins and ends connections, whatever their transports. */
export function connectionCounts(metrics: MetricsRegistry) {
  return {
    opened: metrics.increments('crier_connections_opened_total', 'WebSockets accepted.'),
    closed: metrics.increments('crier_connections_closed_total', 'WebSockets closed, by close code.', ['code']),
    refused: metrics.increments('crier_refusals_total', 'Handshakes and HTTP requests refused, by reason.', ['reason']),
  };
}

/** Counts of what happens on open connections. */
export function clientCounts(metrics: MetricsRegistry) {
  return {
    slowConsumers: metrics.increments('crier_slow_consumers_total', 'Connections closed because they did not read.'),
    expiredTokens: metrics.increments(
      'crier_tokens_expired_total',
      'Connections closed because their token expired and was not refreshed.',
    ),
    refreshedTokens: metrics.increments(
      'crier_tokens_refreshed_total',
      'Tokens that clients have replaced on a living connection.',
    ),
    failures: metrics.increments(
      'crier_failures_total',
      'Unexpected failures that ended one operation or one connection.',
      ['ended'],
    ),
  };
}

export function observeConnections(metrics: MetricsRegistry, connections: Connections): void {
  metrics.total(
    'crier_memory_guard_connections_closed_total',
    'WebSockets closed because memory was very short and they held the most.',
    () => connections.discardedCount,
  );
  metrics.total(
    'crier_drain_connections_closed_total',
    'WebSockets that the drain of this pod has closed.',
    () => connections.drainedCount,
  );
  metrics.gauge('crier_connections', 'WebSockets and streams open now.', () => connections.size);
  metrics.gauge('crier_operations', 'Operations live now.', () => connections.operationCount);
}

export function observeStreams(metrics: MetricsRegistry, streams: HttpStreams, callbacks: Callbacks | undefined): void {
  metrics.gauges('crier_streams', 'Of these, streams over HTTP and callbacks, by transport.', ['transport'], () => [
    ...(['sse', 'multipart', 'catch_up'] as const).map((transport) => ({
      labels: { transport },
      value: streams.countOf(transport),
    })),
    { labels: { transport: 'callback' }, value: callbacks?.size ?? 0 },
  ]);
}

export function callbackPosts(metrics: MetricsRegistry) {
  return metrics.increments('crier_callback_posts_total', 'Posts to callbacks of routers, by result.', ['result']);
}

export function observeSubscriptions(metrics: MetricsRegistry, subscriptions: SubscriptionTally): void {
  metrics.gauges('crier_subscriptions', 'Subscriptions live now, by field.', ['field'], () =>
    Array.from(subscriptions.counts, ([field, value]) => ({ labels: { field }, value })),
  );
}
