import type { ChannelMessage } from '../bus/bus-message.ts';
import type { Sender } from '../bus/flow/sender.ts';
import type { MetricsRegistry } from '../ops/metrics/metrics-registry.ts';
import type { SnakeCase } from './decoding/snake-case.ts';
import type { ChunkTimes, WorkerObserver } from './observer.ts';
import type { FlowWait } from './session/flow-wait.ts';

/** Receives the counts of records, wherever they come from. */
export type RecordObserver = Pick<WorkerObserver, 'onConsumed' | 'onPublished' | 'onPoison'>;

export function recordObserver(metrics: MetricsRegistry): RecordObserver {
  const consumed = metrics.increments('crier_records_consumed_total', 'Records read from Kafka or the samples.', [
    'topic',
  ]);
  const poison = metrics.increments('crier_poison_records_total', 'Records that could not be decoded, by reason.', [
    'topic',
    'reason',
  ]);
  const consumedBytes = metrics.increments('crier_record_bytes_total', 'Bytes of the values of consumed records.', [
    'topic',
  ]);
  return {
    onConsumed: (topic, count, bytes) => {
      consumed.inc({ topic }, count);
      consumedBytes.inc({ topic }, bytes);
    },
    onPublished: stageObserver(metrics),
    onPoison: (topic, reason) => poison.inc({ topic, reason }),
  };
}

/** Observes the worker's stages of a chunk once for each of its messages. */
export function stageObserver({
  stages,
}: MetricsRegistry): (messages: readonly ChannelMessage[], times: ChunkTimes) => void {
  const [fetch, decode, publish] = [stages.of('fetch'), stages.of('decode'), stages.of('publish')];
  return (messages, { startedAt, decodeMs, publishMs }) => {
    let first = 0;
    while (first < messages.length) {
      const { timestamp } = messages[first]!;
      let next = first + 1;
      while (next < messages.length && messages[next]!.timestamp === timestamp) next++;
      // A broker that converts records of Kafka's oldest format gives them no timestamp (-1).
      if (timestamp > 0) fetch.observe((startedAt - timestamp) / 1000, next - first);
      first = next;
    }
    if (messages.length === 0) return;
    decode.observe(decodeMs / 1000, messages.length);
    publish.observe(publishMs / 1000, messages.length);
  };
}

/** @param overflows numbers that became null in decoders */
export function observeRewriting(metrics: MetricsRegistry, snakeCase: SnakeCase, overflows: () => number): void {
  metrics.total(
    'crier_key_collisions_total',
    'Properties dropped because another key has the same snake_case name.',
    () => snakeCase.collisions,
  );
  metrics.total(
    'crier_protos_dropped_total',
    'Properties dropped because their key was __proto__.',
    () => snakeCase.droppedProtos,
  );
  metrics.total(
    'crier_number_overflows_total',
    'Numbers that became null because JSON or a double cannot hold them (1e400, NaN).',
    () => snakeCase.overflows + overflows(),
  );
}

export function observeFlow(metrics: MetricsRegistry, flow: FlowWait, sender: Pick<Sender, 'lags'>): void {
  metrics.gauge(
    'crier_flow_limited_partitions',
    'Partitions that wait for room of the gateways, or have waited within the last second.',
    () => flow.partitions.length,
  );
  metrics.counter(
    'crier_flow_limited_seconds_total',
    'Seconds that partitions have waited for room of the gateways.',
    ['topic'],
    () => Array.from(flow.secondsByTopic(), ([topic, value]) => ({ labels: { topic }, value })),
  );
  metrics.counter(
    'crier_flow_limited_by_gateway_seconds_total',
    'The same seconds by the gateway that lagged most, for the last 20 gateways that limited.',
    ['gateway'],
    () => Array.from(flow.secondsByGateway(), ([gateway, value]) => ({ labels: { gateway }, value })),
  );
  metrics.gauges(
    'crier_flow_gateway_lag_bytes',
    'Bytes published that a gateway had not served when it answered last, of the partition with the most of them.',
    ['gateway'],
    () => Array.from(sender.lags(), ([gateway, value]) => ({ labels: { gateway }, value })),
    'max',
  );
}
