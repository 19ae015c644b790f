import type { Bus, PartitionLease, Message, Position } from '../bus/bus.ts';
import { EmbeddedTopics } from '../embedded/embedded-topics.ts';
import { Sampler } from '../embedded/sampler.ts';
import { partsDemands } from '../graph/parts-demands.ts';
import { PartsPrinter } from '../graph/parts-printer.ts';
import { createRouters } from '../graph/router.ts';
import type { TopicRouter } from '../graph/router.ts';
import { keyPlaces } from '../graph/schema/key-places.ts';
import { stateSignatures } from '../graph/state/state-signature.ts';
import { registerCodecs } from '../kafka/kafkajs/codecs.ts';
import type { RecordContent } from '../kafka/batch.ts';
import { KafkaConsumer } from '../kafka/consumer.ts';
import { Converter } from '../kafka/decoding/converter.ts';
import { FlowWait } from '../kafka/session/flow-wait.ts';
import { SnakeCase } from '../kafka/decoding/snake-case.ts';
import { RecordPublisher } from '../kafka/record-publisher.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { kafkaObserver, observeConsumer } from './kafka-metrics.ts';
import { openSchemaRegistry } from './schema-registry.ts';
import type { Component, RoleServices } from './services.ts';
import { createRecordTraces } from './tracing.ts';
import { stageObserver } from './worker-stages.ts';
import { UnmatchedLog, unmatchedRecords } from './unmatched-log.ts';

/** Creates the worker: it publishes the records of Kafka, or the graph's sample records without Kafka. */
export function createWorker(
  services: RoleServices,
  onFatal: (error: Error) => void,
): KafkaConsumer | (Component & { start(): unknown }) {
  const { config, graph, bus, log, metrics, register, tracing } = services;
  const snakeCase = new SnakeCase();
  let overflows = 0;
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
    () => snakeCase.overflows + overflows,
  );
  const limits = { maxBytes: config.MAX_RECORD_BYTES, maxDepth: config.MAX_RECORD_DEPTH };
  const bindings = [...graph.bindings.values()];
  const routers = createRouters(bindings, config.CHANNEL_PREFIX, (topic, path) =>
    log.warn(
      { topic, path },
      'the key of a record is not its value at the path that tombstones are routed by: tombstones of this topic reach nobody, or the wrong subscriptions',
    ),
  );
  const converter = new Converter(routers, limits, snakeCase, {
    hasRewriter: config.KEY_REWRITER,
    decoders: openSchemaRegistry(services, { limits, onOverflow: () => overflows++ }),
    keyPlaces: keyPlaces(bindings, graph.shapes),
  });
  metrics.counter(
    'crier_records_unmatched_total',
    'Records that did not match a field of their topic, by reason.',
    ['field', 'reason'],
    () => unmatchedRecords(routers.values()),
  );
  metrics.counter(
    'crier_tombstones_total',
    'Records without a value, by whether a channel got them.',
    ['topic', 'outcome'],
    () => tombstones(routers.values()),
  );
  register(new UnmatchedLog(routers.values(), log)).start();
  const flow = register(new FlowWait(bus.sender, log));
  observeFlow(flow, bus, metrics);
  const printers = new Map(
    Array.from(partsDemands(bindings), ([topic, demand]) => [topic, new PartsPrinter(demand)] as const),
  );
  metrics.counter(
    'crier_record_parts_omitted_total',
    'Records whose key and headers were too large to travel with their events.',
    ['topic'],
    () => Array.from(printers, ([topic, { omitted }]) => ({ labels: { topic }, value: omitted })),
  );
  const ports = {
    flow,
    printParts: printers.size > 0 ? (record: RecordContent) => printers.get(record.topic)?.print(record) : undefined,
    traces: tracing && createRecordTraces(tracing, config),
    convert: (record: RecordContent) => converter.convert(record),
    publish: (messages: readonly Message[], upTo: Position) => bus.publish(messages, upTo),
  };
  const records = {
    onConsumed: (topic: string, count: number, bytes: number) => {
      metrics.recordsConsumed.inc({ topic }, count);
      metrics.recordBytes.inc({ topic }, bytes);
    },
    onPublished: stageObserver(metrics),
    onPoison: (topic: string, reason: string) => metrics.poisonRecords.inc({ topic, reason }),
  };
  if (config.KAFKA_BROKERS.length === 0) {
    const deadLetter = () => Promise.resolve();
    return createSampler(services, new RecordPublisher({ ...ports, deadLetter }, records, log));
  }
  const observer = kafkaObserver(metrics, records);
  registerCodecs({ maxInflatedBytes: config.MAX_INFLATED_BATCH_BYTES });
  const topics = [...new Set(bindings.flatMap(({ topics }) => topics))];
  const acquire = (lease: PartitionLease) => bus.acquire(lease);
  const signatures = stateSignatures(bindings, bus.stateFills.servers);
  const states = signatures.size > 0 ? { signatures, fills: bus.stateFills } : undefined;
  const consumer = new KafkaConsumer({ ...ports, states, acquire, config, topics, observer, log, onFatal });
  observeConsumer(metrics, consumer);
  return consumer;
}

function* tombstones(routers: Iterable<TopicRouter>) {
  for (const { topic, tombstones: counts } of routers) {
    for (const [outcome, value] of Object.entries(counts)) yield { labels: { topic, outcome }, value };
  }
}

function observeFlow(flow: FlowWait, bus: Bus, metrics: Metrics): void {
  metrics.gauge(
    'crier_flow_limited_partitions',
    'Partitions that wait for room of the gateways, or have waited within the last second.',
    () => flow.partitions.length,
  );
  metrics.counter(
    'crier_flow_limited_seconds_total',
    'Seconds that partitions have waited for room of the gateways.',
    ['topic'],
    () => Array.from(flow.secondsByTopic, ([topic, value]) => ({ labels: { topic }, value })),
  );
  metrics.counter(
    'crier_flow_limited_by_gateway_seconds_total',
    'The same seconds by the gateway that lagged most, for the last 20 gateways that limited.',
    ['gateway'],
    () => Array.from(flow.secondsByGateway, ([gateway, value]) => ({ labels: { gateway }, value })),
  );
  metrics.gauges(
    'crier_flow_gateway_lag_bytes',
    'Bytes published that a gateway had not served when it answered last, of the partition with the most of them.',
    ['gateway'],
    () => Array.from(bus.sender.lags(), ([gateway, value]) => ({ labels: { gateway }, value })),
  );
}

function createSampler(
  { config, graph, bus, embedded, log }: RoleServices,
  publisher: RecordPublisher,
): Component & { start(): unknown } {
  const { samples } = graph;
  const topics = embedded ?? new EmbeddedTopics();
  const leased = new Set<string>();
  topics.connect(async (record, signal) => {
    const { topic, partition } = record;
    if (!leased.has(topic)) await bus.acquire({ topic, partition, position: -1 });
    leased.add(topic);
    await publisher.publish([record], signal && { signal });
  });
  if (!samples) {
    if (graph.bindings.size > 0)
      log.warn({ graph: graph.name }, 'no samples.ts in the graph: nothing happens until KAFKA_BROKERS is set');
    return { start: () => undefined, close: () => Promise.resolve() };
  }
  return new Sampler({
    samples,
    seed: 1,
    intervalMs: config.SAMPLE_INTERVAL_MS,
    log,
    process: async ({ topic, key, value }, signal) => void (await topics.append(topic, { key, value }, signal)),
  });
}
