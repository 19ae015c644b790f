import kafkajs from 'kafkajs';
import type { PartitionAssigner } from 'kafkajs';
import { FetchDecoder } from '../fetching/fetch-decoder.ts';
import type { FetchDecoderOptions } from '../fetching/fetch-decoder.ts';
import { MIN_FETCH_VERSION } from '../fetching/fetch-response.ts';
import type { FetchResponse } from '../fetching/fetch-response.ts';
import type { InflightBudget } from '../fetching/inflight-budget.ts';
import { partitionKey } from '../partition-key.ts';

/** Longest wait of a fetch for records while any partition is held, in ms: a held one can only join the next fetch. */
const HOLDING_MAX_WAIT_MS = 50;

/** The parts of kafkajs that are touched: its types do not name them. */
interface Cluster {
  findBroker(which: { readonly nodeId: string }): Promise<Broker>;
}

interface Broker {
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
 * kafkajs's round-robin assigner, which also has all fetches of its consumer decoded by a FetchDecoder, and leaves out partitions that
 * the budget holds. kafkajs hands a consumer's cluster to its assigners, and to nobody else: this changes no class that other
 * consumers of the process share.
 */
export function boundFetches(options: FetchDecoderOptions): PartitionAssigner {
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
    return kafkajs.PartitionAssigners.roundRobin(tools);
  };
}

function boundedFetch(broker: Broker, decoder: FetchDecoder, { budget }: FetchDecoderOptions): Broker['fetch'] {
  const { fetch } = broker;
  const node = `${broker.nodeId}`;
  let fetches = 0;
  return async function (options) {
    // kafkajs fetches from a broker when the records of the fetch before are processed.
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
      if (apiVersion < MIN_FETCH_VERSION) return protocol;
      const decode = (payload: Buffer) => decoder.decode(payload, apiVersion, request);
      return { ...protocol, response: { ...protocol.response, decode } };
    };
    const bounded = Object.create(broker, { lookupRequest: { value: lookupRequest } }) as Broker;
    const fetched = await fetch.call(bounded, { ...options, topics, maxWaitTime });
    // A partition whose leader has moved may be held by now, by a batch that the former leader served.
    return { ...fetched, responses: withoutHeld(fetched.responses, ({ topicName }) => topicName, budget) };
  };
}

/** The topics with the partitions that may be fetched now, without those that have none. */
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
 * The request with another topic, and then another partition, at its start in each turn. Brokers fill a response in the order of the request, and
 * a FetchDecoder decodes it in that order: otherwise the first partitions would take all the room while they lag, and the last get none.
 */
function rotated(topics: readonly RequestedTopic[], turn: number): RequestedTopic[] {
  return fromIndex(topics, turn).map(({ topic, partitions }) => ({
    topic,
    partitions: fromIndex(partitions, Math.floor(turn / topics.length)),
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
