import kafkajs from 'kafkajs';
import type { PartitionAssigner } from 'kafkajs';
import { FetchDecoder } from '../fetching/fetch-decoder.ts';
import type { FetchDecoderOptions } from '../fetching/fetch-decoder.ts';
import { MIN_FETCH_VERSION } from '../fetching/fetch-response.ts';
import type { FetchResponse } from '../fetching/fetch-response.ts';
import type { InflightBudget } from '../fetching/inflight-budget.ts';
import { partitionKey } from '../../partition-key.ts';

/** Longest wait of a fetch for records while any partition is held, in ms: a released partition joins only the next fetch. */
const HOLDING_MAX_WAIT_MS = 50;

/** The internals of kafkajs that this file uses. kafkajs's types do not declare them. */
interface Cluster {
  findBroker(which: { readonly nodeId: string }): Promise<Broker>;
}

export interface Broker {
  readonly nodeId: string | number;
  fetch: (this: Broker, options: FetchOptions) => Promise<Fetched>;
  readonly lookupRequest: (apiKey: number, definition: unknown) => (parameters: unknown) => Protocol;
}

interface FetchOptions {
  readonly topics: readonly RequestedTopic[];
  /** Longest wait of the broker for records, in ms. */
  readonly maxWaitTime: number;
}

type Fetched = Pick<FetchResponse<unknown>, 'responses'>;

interface RequestedTopic {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number; readonly fetchOffset: string }[];
}

interface Protocol {
  readonly request: { readonly apiVersion: number };
  readonly response: { readonly decode: (payload: Buffer) => Promise<unknown> };
}

/**
 * An assigner that also replaces the fetches of its consumer: a FetchDecoder decodes them, and they omit partitions that the budget holds.
 * The assigner is the only extension point that receives the consumer's cluster. Other consumers of the process are unaffected.
 * https://github.com/tulios/kafkajs/pull/1723
 *
 * @param assigner default: kafkajs's, for members that all read the same topics
 */
export function boundFetches(
  options: FetchDecoderOptions,
  assigner: PartitionAssigner = kafkajs.PartitionAssigners.roundRobin,
): PartitionAssigner {
  const decoder = new FetchDecoder(options);
  return (tools) => {
    const cluster = tools.cluster as unknown as Cluster;
    const findBroker = cluster.findBroker.bind(cluster);
    const bounded = new WeakSet<Broker>();
    cluster.findBroker = async (which) => {
      const broker = await findBroker(which);
      if (!bounded.has(broker)) {
        bounded.add(broker);
        broker.fetch = boundedFetch(broker, decoder, options);
      }
      return broker;
    };
    return assigner(tools);
  };
}

/** A broker's `fetch`, decoded within the budget. */
export function boundedFetch(broker: Broker, decoder: FetchDecoder, { budget }: FetchDecoderOptions): Broker['fetch'] {
  const { fetch } = broker;
  const node = `${broker.nodeId}`;
  let fetches = 0;
  return async function (options) {
    // kafkajs fetches from a broker after it has processed the records of the last fetch.
    budget.releaseNode(node);
    const maxWaitTime = budget.isHolding ? Math.min(options.maxWaitTime, HOLDING_MAX_WAIT_MS) : options.maxWaitTime;
    const free = withoutHeld(options.topics, ({ topic }) => topic, budget);
    if (free.length === 0) {
      await budget.released(options.maxWaitTime);
      return { responses: [] };
    }
    const topics = rotated(free, fetches++);
    const request = { node, offsets: offsetsOf(topics) };
    const lookupRequest: Broker['lookupRequest'] = (apiKey, definition) => (parameters) => {
      const protocol = broker.lookupRequest(apiKey, definition)(parameters);
      const { apiVersion } = protocol.request;
      if (apiVersion < MIN_FETCH_VERSION)
        throw new kafkajs.KafkaJSNonRetriableError(
          'the broker is older than Kafka 0.11, and crier does not read its format',
        );
      const decode = (payload: Buffer) => decoder.decode(payload, apiVersion, request);
      return { ...protocol, response: { ...protocol.response, decode } };
    };
    const bounded = Object.create(broker, { lookupRequest: { value: lookupRequest } }) as Broker;
    const fetched = await fetch.call(bounded, { ...options, topics, maxWaitTime });
    // After a leader change, a batch from the former leader may hold the partition by now.
    return { ...fetched, responses: withoutHeld(fetched.responses, ({ topicName }) => topicName, budget) };
  };
}

/** Omits held partitions, and topics of which all partitions are held. */
function withoutHeld<Topic extends { readonly partitions: readonly { readonly partition: number }[] }>(
  topics: readonly Topic[],
  nameOf: (topic: Topic) => string,
  budget: InflightBudget,
): readonly Topic[] {
  if (!budget.isHolding) return topics;
  return topics
    .map((topic) => ({
      ...topic,
      partitions: topic.partitions.filter(({ partition }) => !budget.isHeld(partitionKey(nameOf(topic), partition))),
    }))
    .filter(({ partitions }) => partitions.length > 0);
}

/**
 * Rotates the topics and their partitions by one per fetch. Brokers fill a response in the order of the request, and the FetchDecoder
 * decodes it in that order: without the rotation, lagging first partitions would take all the room.
 */
function rotated(topics: readonly RequestedTopic[], fetches: number): RequestedTopic[] {
  return fromIndex(topics, fetches).map(({ topic, partitions }) => ({
    topic,
    partitions: fromIndex(partitions, Math.floor(fetches / topics.length)),
  }));
}

function fromIndex<Item>(items: readonly Item[], index: number): Item[] {
  const start = index % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}

function offsetsOf(topics: readonly RequestedTopic[]): Map<string, number> {
  const offsets = new Map<string, number>();
  for (const { topic, partitions } of topics) {
    for (const { partition, fetchOffset } of partitions)
      offsets.set(partitionKey(topic, partition), Number(fetchOffset));
  }
  return offsets;
}
