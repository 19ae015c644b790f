import type { PartitionLease } from '../bus/publisher.ts';
import { KafkaConsumer } from '../kafka/consumer.ts';
import type { KafkaConsumerOptions } from '../kafka/consumer.ts';
import { defaultGroupId } from '../kafka/group-id.ts';
import type { RecordObserver } from '../kafka/record-metrics.ts';
import { processName } from '../config/pod-name.ts';
import type { GroupLock } from './group-lock.ts';
import { kafkaObserver, observeConsumer } from '../kafka/kafka-metrics.ts';
import type { RoleServices } from './services.ts';

export interface ConsumerPorts extends Pick<
  KafkaConsumerOptions,
  'topics' | 'states' | 'flow' | 'printParts' | 'traces' | 'convert' | 'publish' | 'onFatal'
> {
  readonly lock: GroupLock;
  readonly records: RecordObserver;
}

/** The consumer of the graph's topics, with its metrics and details. */
export function createConsumer(
  { config, graph, bus, log, metrics, details }: RoleServices,
  { lock, records, onFatal, ...ports }: ConsumerPorts,
): KafkaConsumer {
  const { name } = graph.current;
  const observer = kafkaObserver(metrics, records);
  const acquire = async (lease: PartitionLease) => {
    await lock.take();
    return bus.acquire(lease);
  };
  const consumer = new KafkaConsumer({
    ...ports,
    onFatal,
    findGroupId: async (topics, cluster) => {
      const groupId = await defaultGroupId(name, topics, cluster, { log, names: config.names });
      await lock.start(groupId).catch(onFatal);
      return groupId;
    },
    acquire,
    facts: () => ({ pod: processName(config), graph: name, place: lock.channelsId }),
    config,
    observer,
    log,
  });
  observeConsumer(metrics, consumer);
  details['kafka'] = () => (consumer.isConnected ? 'connected' : 'away');
  details['kafka_problem'] = () => consumer.problem;
  details['missing_topics'] = () => consumer.missingTopics;
  details['differing_members'] = () => consumer.group.differing;
  details['unread_topics'] = () => consumer.group.unreadTopics;
  details['waiting_partitions'] = () => consumer.waits;
  details['state_fills'] = () => consumer.pendingFills;
  return consumer;
}
