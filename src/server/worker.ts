import type { Message } from '../bus/bus-message.ts';
import type { Flow } from '../bus/flow/flow-control.ts';
import type { Position } from '../bus/publisher.ts';
import type { TopicRouter } from '../graph/router.ts';
import type { RecordContent } from '../kafka/batch.ts';
import { FlowWait } from '../kafka/session/flow-wait.ts';
import { SnakeCase } from '../kafka/decoding/snake-case.ts';
import { RecordPublisher } from '../kafka/record-publisher.ts';
import type { Metrics } from '../ops/metrics/metrics.ts';
import { GroupClaim } from './group-claim.ts';
import { RecordCheck } from './record-check.ts';
import type { DecodersOf, openSchemaRegistry } from './schema-registry.ts';
import type { RoleServices, Worker } from './services.ts';
import { continueCounts, createWorkerGraph } from './worker-graph.ts';
import type { WorkerGraph } from './worker-graph.ts';
import { stageObserver } from './worker-stages.ts';
import { UnmatchedLog, unmatchedRecords } from './unmatched-log.ts';

/** Creates the worker, once no other group claims its channels: it publishes the records of Kafka, or the graph's sample records without Kafka. */
export async function createWorker(services: RoleServices, onFatal: (error: Error) => void): Promise<Worker> {
  const { config, graph, graphParts, bus, log, metrics, register, tracing } = services;
  const claim = register(new GroupClaim({ bus, config, onRefused: onFatal }));
  // Otherwise Kafka's commits decide: once it can be reached.
  if (config.KAFKA_BROKERS.length > 0 && config.KAFKA_GROUP_ID !== '') await claim.start(config.KAFKA_GROUP_ID);
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
  const ports = {
    limits,
    snakeCase,
    decodersOf: await openDecoders(services, { limits, onOverflow: () => overflows++ }),
  };
  let served = createWorkerGraph(services, ports, graph);
  metrics.counter(
    'crier_records_unmatched_total',
    'Records that did not match a field of their topic, by reason.',
    ['field', 'reason'],
    () => unmatchedRecords(served.routers.values()),
  );
  metrics.counter(
    'crier_tombstones_total',
    'Records without a value, by whether a channel got them.',
    ['topic', 'outcome'],
    () => tombstones(served.routers.values()),
  );
  const unmatched = register(new UnmatchedLog(served.routers.values(), log));
  unmatched.start();
  let check = new RecordCheck(services, served.decoders);
  register({ close: () => check.close() });
  const startCheck = () => (config.KAFKA_BROKERS.length === 0 ? check.startWithSamples() : check.start());
  const flow = register(new FlowWait(bus.sender, log));
  observeFlow(flow, bus, metrics);
  metrics.counter(
    'crier_record_parts_omitted_total',
    'Records whose key and headers were too large to travel with their events.',
    ['topic'],
    () => Array.from(served.printers, ([topic, { omitted }]) => ({ labels: { topic }, value: omitted })),
  );
  const batchPorts = {
    flow,
    printParts: (record: RecordContent) => served.printers.get(record.topic)?.print(record),
    traces: tracing && (await import('./traces.ts')).createRecordTraces(tracing, () => claim.groupId),
    convert: (record: RecordContent) => served.converter.convert(record),
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
  let onServe = () => {};
  graphParts.push({
    open: (next) => {
      const opened = createWorkerGraph(services, ports, next);
      const serve = () => {
        continueCounts(served, opened);
        served = opened;
        unmatched.replace(opened.routers.values());
        onServe();
        void check.close();
        check = new RecordCheck({ ...services, graph: next }, opened.decoders);
        startCheck();
        return Promise.resolve();
      };
      return Promise.resolve({ serve, discard: () => Promise.resolve() });
    },
  });
  if (config.KAFKA_BROKERS.length === 0) {
    const deadLetter = () => Promise.resolve();
    startCheck();
    const { createSampler } = await import('./sampler.ts');
    return createSampler(services, new RecordPublisher({ ...batchPorts, deadLetter }, records, log));
  }
  const reads = ({ topics, signatures }: WorkerGraph) => ({
    topics,
    states: signatures.size > 0 ? { signatures, fills: bus.stateFills } : undefined,
  });
  const { createConsumer } = await import('./kafka-consumer.ts');
  const consumer = createConsumer(services, { ...batchPorts, ...reads(served), claim, records, onFatal });
  onServe = () => consumer.replace(reads(served));
  startCheck();
  return consumer;
}

/** Records have no schemas without a registry; the graph's sample records are JSON. */
async function openDecoders(
  services: RoleServices,
  options: Parameters<typeof openSchemaRegistry>[1],
): Promise<DecodersOf> {
  const { SCHEMA_REGISTRY_URL, KAFKA_BROKERS } = services.config;
  if (SCHEMA_REGISTRY_URL.length === 0 || KAFKA_BROKERS.length === 0) return () => new Map();
  const { openSchemaRegistry } = await import('./schema-registry.ts');
  return openSchemaRegistry(services, options);
}

function* tombstones(routers: Iterable<TopicRouter>) {
  for (const { topic, tombstones: counts } of routers) {
    for (const [outcome, value] of Object.entries(counts)) yield { labels: { topic, outcome }, value };
  }
}

function observeFlow(flow: FlowWait, { sender }: Flow, metrics: Metrics): void {
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
  );
}
