import type { KafkaRecord } from '../batch.ts';
import { FetchDecoder } from '../fetching/fetch-decoder.ts';
import { InflightBudget } from '../fetching/inflight-budget.ts';
import type { FetchedRecord } from '../fetching/record-batch.ts';
import { boundedFetch } from './bounded-fetch.ts';
import type { Broker } from './bounded-fetch.ts';
import type { KafkaClient } from './client.ts';
import type { PartitionRange } from './cluster.ts';
import { createRawCluster } from './raw-cluster.ts';
import type { RawCluster } from './raw-cluster.ts';

const MAX_INFLIGHT_BYTES = 32 * 1024 * 1024;
/** Of one fetch. A batch that is larger comes whole. */
const MAX_FETCH_BYTES = 1024 * 1024;
const MAX_WAIT_MS = 500;
const READ_COMMITTED = 1;

interface Fetched {
  readonly responses: readonly { readonly partitions: readonly { readonly messages: readonly FetchedRecord[] }[] }[];
}

/** Reads some of the newest records of topics. Joins no group and commits nothing. */
export class RecentRecords {
  readonly #cluster: RawCluster;
  readonly #budget = new InflightBudget(MAX_INFLIGHT_BYTES);

  private constructor(cluster: RawCluster) {
    this.#cluster = cluster;
  }

  /** Connects through a client, whose end is the end of the connection. */
  static async connect({ kafka }: KafkaClient): Promise<RecentRecords> {
    const cluster = createRawCluster(kafka);
    await cluster.connect();
    return new RecentRecords(cluster);
  }

  /**
   * The records of one fetch from the partition that has had most of them, in order: at most `count`, or those of 1 MB. Empty if the topic is.
   * @param ranges of the topic's partitions
   */
  async read(topic: string, ranges: ReadonlyMap<number, PartitionRange>, count: number): Promise<KafkaRecord[]> {
    const [newest] = [...ranges]
      .filter(([, { low, end }]) => low < end)
      .toSorted(([, a], [, b]) => Number(b.end - a.end));
    if (!newest) return [];
    const [partition, { low, end }] = newest;
    await this.#cluster.addMultipleTargetTopics([topic]);
    const from = end - BigInt(count) > low ? end - BigInt(count) : low;
    const [nodeId = ''] = Object.keys(this.#cluster.findLeaderForPartitions(topic, [partition]));
    const broker = (await this.#cluster.findBroker({ nodeId })) as unknown as Broker;
    const options = { budget: this.#budget, maxInflatedBytes: MAX_INFLIGHT_BYTES };
    const request = {
      isolationLevel: READ_COMMITTED,
      maxWaitTime: MAX_WAIT_MS,
      minBytes: 1,
      maxBytes: MAX_FETCH_BYTES,
      topics: [{ topic, partitions: [{ partition, fetchOffset: `${from}`, maxBytes: MAX_FETCH_BYTES }] }],
    };
    const fetched = await boundedFetch(broker, new FetchDecoder(options), options).call(broker, request);
    const { responses } = fetched as Fetched;
    return responses
      .flatMap(({ partitions }) => partitions.flatMap(({ messages }) => messages))
      .filter(({ isControlRecord, offset }) => !isControlRecord && BigInt(offset) >= from)
      .slice(-count)
      .map(({ offset, timestamp, key, value, headers, poison }) => {
        return { topic, partition, offset, timestamp, key, value, headers, poison };
      });
  }
}
