import type { Admin, Kafka } from 'kafkajs';

/** The internals of kafkajs that this folder's requests use beside its public API. kafkajs's types do not declare them. */
export interface RawCluster {
  readonly brokerPool: RawBrokerPool;
  connect(): Promise<void>;
  refreshMetadata(): Promise<void>;
  refreshMetadataIfNecessary(): Promise<void>;
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
  /** Partitions by the node id of their leader; by -1, those without a leader. */
  findLeaderForPartitions(topic: string, partitions: readonly number[]): Readonly<Record<string, number[]>>;
  findTopicPartitionMetadata(topic: string): readonly RawPartition[];
  fetchTopicsOffset: (this: RawCluster, topics: readonly PartitionsOf[]) => Promise<readonly PartitionsOf[]>;
  findBroker(which: { readonly nodeId: string }): Promise<RawBroker>;
  findControllerBroker(): Promise<RawBroker>;
  findGroupCoordinator: (this: RawCluster, group: { readonly groupId: string }) => Promise<RawBroker>;
}

interface PartitionsOf {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number }[];
}

export interface RawBrokerPool {
  createBroker: (options: unknown) => RawBroker;
  readonly connectionPoolBuilder: { build(broker: RawAddress): Promise<RawConnectionPool> };
  readonly rootLogger: unknown;
  refreshMetadata: (topics: readonly string[]) => Promise<void>;
  findConnectedBroker(): Promise<RawBroker>;
  readonly metadata: RawMetadata | null;
  /** When the metadata is asked for again (Date.now()). */
  metadataExpireAt: number | null;
}

export interface RawMetadata {
  readonly topicMetadata: readonly {
    readonly topic: string;
    readonly topicErrorCode: number;
    readonly partitionMetadata: readonly RawPartition[];
  }[];
}

interface RawPartition {
  readonly partitionId: number;
  /** Node id; -1: it has none. */
  readonly leader: number;
}

interface RawAddress {
  readonly host: string;
  readonly port: number;
  readonly rack: string | null;
}

interface RawConnectionPool extends RawAddress {
  send<Reply>(protocol: RawExchange<Reply>): Promise<Reply>;
}

export interface RawBroker {
  readonly connectionPool: RawConnectionPool;
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  readonly nodeId: string | number;
  /** By API key; null until it is connected. */
  readonly versions: Readonly<Record<number, { readonly maxVersion: number } | undefined>> | null;
  /** The protocol of a request in the newest version that this broker knows. */
  readonly lookupRequest: (apiKey: number, definition: unknown) => (parameters: unknown) => RawProtocol;
  metadata: (this: RawBroker, topics: readonly string[]) => Promise<RawMetadata>;
  fetch(options: object): Promise<unknown>;
  produce(options: object): Promise<unknown>;
  heartbeat(options: object): Promise<unknown>;
  findGroupCoordinator(options: object): Promise<unknown>;
  joinGroup: (this: RawBroker, request: { readonly memberId: string }) => Promise<unknown>;
  syncGroup: (this: RawBroker, request: { readonly generationId: number }) => Promise<SyncedGroup>;
  listOffsets(this: RawBroker, options: object): Promise<ListedOffsets>;
}

export interface RawProtocol {
  readonly request: { readonly apiVersion: number };
  readonly response: {
    readonly decode: (payload: Buffer) => Promise<unknown>;
    /** Throws if the decoded response has an error. */
    readonly parse: (decoded: unknown) => Promise<unknown>;
  };
}

/** A request that is encoded here, and what reads its response. */
interface RawExchange<Reply> {
  readonly request: {
    readonly apiKey: number;
    readonly apiVersion: number;
    readonly apiName: string;
    /** Two names of the same bytes, which follow the client id. */
    readonly encode: () => Promise<{ readonly buf: Buffer; readonly buffer: Buffer }>;
  };
  readonly response: {
    /** Receives the bytes that follow the correlation id. */
    readonly decode: (payload: Buffer) => Promise<Reply>;
    readonly parse: (decoded: Reply) => Promise<Reply>;
  };
}

export interface SyncedGroup {
  readonly memberAssignment: Buffer;
}

export interface ListedOffsets {
  readonly responses: readonly {
    readonly topic: string;
    readonly partitions: readonly { readonly partition: number; readonly errorCode: number; readonly offset: string }[];
  }[];
}

type CreateCluster = (options: object) => RawCluster;

/** A connection through a client, whose end is the end of the connection. It creates no topics. */
export function createRawCluster(kafka: Kafka): RawCluster {
  return createCluster(kafka)({ allowAutoTopicCreation: false });
}

/** An admin, and the cluster through which it asks. */
export function createAdmin(kafka: Kafka): { readonly admin: Admin; readonly cluster: RawCluster } {
  let cluster!: RawCluster;
  const create = createCluster(kafka);
  const admin = withCreateCluster(Object.create(kafka) as Kafka, (options) => (cluster = create(options))).admin();
  return { admin, cluster };
}

/** Calls `onCluster` with each cluster that this client creates, for an admin, a producer or a consumer, before it connects. */
export function eachCluster(kafka: Kafka, onCluster: (cluster: RawCluster) => void): void {
  const create = createCluster(kafka);
  withCreateCluster(kafka, (options) => {
    const cluster = create(options);
    onCluster(cluster);
    return cluster;
  });
}

function createCluster(kafka: Kafka): CreateCluster {
  return (kafka as unknown as Record<symbol, CreateCluster>)[createClusterKey(kafka)]!;
}

function withCreateCluster(kafka: Kafka, create: CreateCluster): Kafka {
  return Object.assign(kafka, { [createClusterKey(kafka)]: create });
}

function createClusterKey(kafka: Kafka): symbol {
  const name = 'private:Kafka:createCluster';
  for (let one: unknown = kafka; one; one = Object.getPrototypeOf(one)) {
    const key = Object.getOwnPropertySymbols(one).find(({ description }) => description === name);
    if (key) return key;
  }
  throw new Error(`kafkajs has no ${name}`);
}
