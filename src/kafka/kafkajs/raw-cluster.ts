import type { Kafka } from 'kafkajs';

/** The internals of kafkajs that this folder's requests use beside its public API. kafkajs's types do not declare them. */
export interface RawCluster {
  connect(): Promise<void>;
  refreshMetadata(): Promise<void>;
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
  /** Partitions by the node id of their leader. */
  findLeaderForPartitions(topic: string, partitions: readonly number[]): Readonly<Record<string, number[]>>;
  findBroker(which: { readonly nodeId: string }): Promise<RawBroker>;
  findControllerBroker(): Promise<RawBroker>;
}

export interface RawBroker {
  readonly nodeId: string | number;
  fetch(options: object): Promise<unknown>;
  produce(options: object): Promise<unknown>;
  heartbeat(options: object): Promise<unknown>;
}

/** A connection through a client, whose end is the end of the connection. It creates no topics. */
export function createRawCluster(kafka: Kafka): RawCluster {
  const name = 'private:Kafka:createCluster';
  const key = Object.getOwnPropertySymbols(kafka).find(({ description }) => description === name)!;
  const create = (kafka as unknown as Record<symbol, (options: object) => RawCluster>)[key]!;
  return create({ allowAutoTopicCreation: false });
}
