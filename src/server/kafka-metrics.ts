import { AssignedPartitions } from '../kafka/assigned-partitions.ts';
import type { AssignedPartition } from '../kafka/assigned-partitions.ts';
import type { KafkaConsumer } from '../kafka/consumer.ts';
import type { WorkerObserver } from '../kafka/observer.ts';
import type { Metrics } from '../ops/metrics/metrics.ts';

/** Registers the metrics of a worker that reads Kafka, beside those of its records. */
export function kafkaObserver(
  metrics: Metrics,
  records: Pick<WorkerObserver, 'onConsumed' | 'onPublished' | 'onPoison'>,
): WorkerObserver {
  const partitions = new AssignedPartitions();
  let pausedPartitions = 0;
  let skippedPartitions = 0;
  let waitingPartitions = 0;
  let schemaWaits = 0;
  let stoppedPartitions = 0;
  let joins = 0;
  let commitFailures = 0;
  metrics.gauge('crier_paused_partitions', 'Partitions that wait for the bus now.', () => pausedPartitions);
  metrics.gauge(
    'crier_skipped_partitions',
    'Partitions of which some channels wait now, because their shard of the Redis Cluster is away.',
    () => skippedPartitions,
  );
  metrics.gauge(
    'crier_dead_letter_waiting_partitions',
    'Partitions that wait until their poison records are written to the dead-letter topic.',
    () => waitingPartitions,
  );
  metrics.gauge(
    'crier_schema_waiting_partitions',
    'Partitions that wait for the schema registry now.',
    () => schemaWaits,
  );
  metrics.gauge(
    'crier_stopped_partitions',
    'Partitions of topics that are stopped, because each of their first records is undecodable.',
    () => stoppedPartitions,
  );
  metrics.gauges(
    'crier_kafka_lag_records',
    'Records between the position and the end of a partition assigned to this worker, those of open transactions included, looked at every few seconds; NaN: unknown.',
    ['topic', 'partition'],
    () => seriesOf(partitions, ({ lag }) => lag),
  );
  metrics.gauges(
    'crier_kafka_progress_age_seconds',
    'Seconds since a partition assigned to this worker advanced or was seen without lag.',
    ['topic', 'partition'],
    () => seriesOf(partitions, ({ progressedAt }) => (performance.now() - progressedAt) / 1000),
  );
  metrics.total(
    'crier_kafka_commit_failures_total',
    'Offset commits that failed, except for a rebalance; they are repeated.',
    () => commitFailures,
  );
  metrics.total(
    'crier_kafka_rebalances_total',
    'Generations of the consumer group that this worker joined: the first one, and one for each rebalance.',
    () => joins,
  );
  return {
    ...records,
    onDeadLetterFailure: (dropped) => metrics.deadLetterFailures.inc(dropped),
    onRebuild: (reason) => metrics.consumerRebuilds.inc({ reason }),
    onPausedPartitions: (count) => (pausedPartitions = count),
    onSkippedPartitions: (count) => (skippedPartitions = count),
    onWaitingPartitions: (count) => (waitingPartitions = count),
    onSchemaWaits: (count) => (schemaWaits = count),
    onStoppedPartitions: (count) => (stoppedPartitions = count),
    onJoin: (assignment) => {
      joins++;
      partitions.assign(assignment, performance.now());
    },
    onProgress: (topic, partition) => partitions.progress(topic, partition, performance.now()),
    onPositions: (positions) => partitions.measure(positions, performance.now()),
    onPositionsUnknown: () => partitions.loseLags(),
    onMissedRecords: (topic, records) => metrics.missedRecords.inc({ topic }, records),
    onCommitFailure: () => commitFailures++,
  };
}

export function observeConsumer(
  metrics: Metrics,
  consumer: Pick<KafkaConsumer, 'isConnected' | 'missingTopics' | 'pendingFills'>,
): void {
  metrics.gauge('crier_kafka_connected', '1 while this worker is a member of its consumer group, else 0.', () =>
    Number(consumer.isConnected),
  );
  metrics.gauge(
    'crier_kafka_topics_missing',
    'Topics of the graph that do not exist yet.',
    () => consumer.missingTopics.length,
  );
  metrics.gauges(
    'crier_state_fill_records',
    'Records that a partition assigned to this worker must still read until the states of its channels are complete.',
    ['topic', 'partition'],
    () =>
      consumer.pendingFills.map(({ topic, partition, remaining }) => ({
        labels: { topic, partition: String(partition) },
        value: remaining,
      })),
  );
}

function seriesOf(partitions: AssignedPartitions, valueOf: (partition: AssignedPartition) => number) {
  return partitions.list.map((one) => ({
    labels: { topic: one.topic, partition: String(one.partition) },
    value: valueOf(one),
  }));
}
