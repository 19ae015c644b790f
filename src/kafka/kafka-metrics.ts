import type { MetricsRegistry } from '../ops/metrics/metrics-registry.ts';
import { AssignedPartitions } from './assigned-partitions.ts';
import type { AssignedPartition } from './assigned-partitions.ts';
import type { KafkaConsumer } from './consumer.ts';
import type { RecordObserver } from './record-metrics.ts';
import type { WorkerObserver } from './observer.ts';

/** Counts what a worker that reads Kafka reports, beside its records. */
export function kafkaObserver(metrics: MetricsRegistry, records: RecordObserver): WorkerObserver {
  const deadLetterFailures = metrics.increments(
    'crier_dead_letter_failures_total',
    'Poison records that were dropped because the dead-letter topic did not take them (DEAD_LETTER=DROP).',
  );
  const rebuilds = metrics.increments('crier_consumer_rebuilds_total', 'Times the Kafka consumer was replaced.', [
    'reason',
  ]);
  const missedRecords = metrics.increments(
    'crier_kafka_missed_records_total',
    'Records that were deleted from their topic before a worker read them: their events are lost.',
    ['topic'],
  );
  const commitFailures = metrics.increments(
    'crier_kafka_commit_failures_total',
    'Offset commits that failed, except for a rebalance; they are repeated.',
  );
  return {
    ...records,
    ...waitObserver(metrics),
    ...assignmentObserver(metrics),
    onDeadLetterFailure: (dropped) => deadLetterFailures.inc(dropped),
    onRebuild: (reason) => rebuilds.inc({ reason }),
    onMissedRecords: (topic, records) => missedRecords.inc({ topic }, records),
    onCommitFailure: () => commitFailures.inc(),
  };
}

/** Shows how many partitions wait, and for what. */
function waitObserver(metrics: MetricsRegistry) {
  const gauge = (name: string, help: string) => {
    let partitions = 0;
    metrics.gauge(name, help, () => partitions);
    return (count: number): void => void (partitions = count);
  };
  return {
    onPausedPartitions: gauge('crier_paused_partitions', 'Partitions that wait for the bus now.'),
    onSkippedPartitions: gauge(
      'crier_skipped_partitions',
      'Partitions of which some channels wait now, because their shard of the Redis Cluster is away.',
    ),
    onWaitingPartitions: gauge(
      'crier_dead_letter_waiting_partitions',
      'Partitions that wait until their poison records are written to the dead-letter topic.',
    ),
    onSchemaWaits: gauge('crier_schema_waiting_partitions', 'Partitions that wait for the schema registry now.'),
    onStoppedPartitions: gauge(
      'crier_stopped_partitions',
      'Partitions of topics that are stopped, because each of their first records is undecodable.',
    ),
  };
}

/** Shows the lag and the progress of the assigned partitions. */
function assignmentObserver(metrics: MetricsRegistry) {
  const partitions = new AssignedPartitions();
  const rebalances = metrics.increments(
    'crier_kafka_rebalances_total',
    'Generations of the consumer group that this worker joined: the first one, and one for each rebalance.',
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
    'max',
  );
  return {
    onJoin: (assignment) => {
      rebalances.inc();
      partitions.assign(assignment, performance.now());
    },
    onProgress: (topic, partition) => partitions.progress(topic, partition, performance.now()),
    onPositions: (positions) => partitions.measure(positions, performance.now()),
    onPositionsUnknown: () => partitions.loseLags(),
  } satisfies Partial<WorkerObserver>;
}

export function observeConsumer(
  metrics: MetricsRegistry,
  consumer: Pick<KafkaConsumer, 'isConnected' | 'missingTopics' | 'pendingFills' | 'waits'>,
): void {
  metrics.gauge(
    'crier_kafka_connected',
    '1 while this worker is a member of its consumer group, else 0.',
    () => Number(consumer.isConnected),
    'max',
  );
  metrics.gauge(
    'crier_kafka_topics_missing',
    'Topics of the graph that do not exist yet.',
    () => consumer.missingTopics.length,
  );
  metrics.gauge(
    'crier_transaction_waiting_partitions',
    'Partitions whose next records wait until a producer ends its transaction.',
    () => consumer.waits.filter((wait) => wait.for === 'the end of a transaction').length,
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
