import type { ChannelMessage } from '../bus/bus-message.ts';
import type { Position } from '../bus/publisher.ts';
import type { RecordContent } from '../kafka/batch.ts';
import { FlowWait } from '../kafka/session/flow-wait.ts';
import { observeFlow, recordObserver } from '../kafka/record-metrics.ts';
import { RecordPublisher } from '../kafka/record-publisher.ts';
import { GroupLock } from './group-lock.ts';
import type { RoleServices, Worker } from './services.ts';
import { openWorkerGraph } from './worker-graph.ts';
import type { WorkerGraph } from './worker-graph.ts';
import { UnmatchedLog } from './unmatched-log.ts';

/** Creates the worker, once no other group holds its channels: it publishes the records of Kafka, or the graph's sample records without Kafka. */
export async function createWorker(services: RoleServices, onFatal: (error: Error) => void): Promise<Worker> {
  const { config, graph, bus, log, metrics, register, tracing } = services;
  const lock = await takeLock(services, onFatal);
  const served = await openWorkerGraph(services);
  const unmatched = register(new UnmatchedLog(served.current.routers.values(), log));
  graph.onServe(() => unmatched.replace(served.current.routers.values()));
  unmatched.start();
  const ports = {
    flow: openFlow(services),
    printParts: (record: RecordContent, isLeft: boolean) => {
      const printer = served.current.printers.get(record.topic);
      return isLeft ? printer?.printLeft(record) : printer?.print(record);
    },
    traces: tracing && (await import('./traces.ts')).createRecordTraces(tracing, () => lock.groupId),
    convert: (record: RecordContent) => served.current.converter.convert(record),
    publish: (messages: readonly ChannelMessage[], upTo: Position) => bus.publish(messages, upTo),
  };
  const records = recordObserver(metrics);
  if (config.isEmbedded) {
    const deadLetter = () => Promise.resolve();
    served.current.check.startWithSamples();
    const { createSampler } = await import('./sampler-stage.ts');
    return createSampler(services, new RecordPublisher({ ...ports, deadLetter }, records, log));
  }
  const reads = ({ topics, signatures }: WorkerGraph) => ({
    topics,
    states: signatures.size > 0 ? { signatures, fills: bus.stateFills } : undefined,
  });
  const { createConsumer } = await import('./kafka-consumer.ts');
  const consumer = createConsumer(services, { ...ports, ...reads(served.current), lock, records, onFatal });
  graph.onServe(() => consumer.replace(reads(served.current)));
  served.current.check.start();
  return consumer;
}

/** @throws SetupError if another group has locked the channels */
async function takeLock(
  { bus, config, register }: RoleServices,
  onRefused: (error: Error) => void,
): Promise<GroupLock> {
  const lock = register(new GroupLock({ bus, config, onRefused }));
  // Otherwise Kafka's commits decide: once it can be reached.
  if (!config.isEmbedded && config.KAFKA_GROUP_ID !== '') await lock.start(config.KAFKA_GROUP_ID);
  return lock;
}

function openFlow({ bus, log, metrics, register }: RoleServices): FlowWait {
  const flow = register(new FlowWait(bus.sender, log));
  observeFlow(metrics, flow, bus.sender);
  return flow;
}
