import type { KafkaRecord } from '../batch.ts';
import { FetchDecoder } from './fetching/fetch-decoder.ts';
import { InflightBudget } from './fetching/inflight-budget.ts';
import type { FetchedPartition } from './fetching/fetch-response.ts';
import type { FetchedRecord } from './fetching/record-batch.ts';
import { boundedFetch } from './patches/bounded-fetch.ts';
import type { Broker } from './patches/bounded-fetch.ts';
import type { KafkaClient } from './kafka-client.ts';
import type { PartitionRange } from './cluster.ts';
import { createRawCluster } from './raw-cluster.ts';
import type { RawCluster } from './raw-cluster.ts';

const MAX_INFLIGHT_BYTES = 32 * 1024 * 1024;
/** Of one fetch. A batch that is larger comes whole. */
const MAX_FETCH_BYTES = 1024 * 1024;
const MAX_WAIT_MS = 500;
const MAX_PARTITIONS = 100;
/** Of one topic. */
const MAX_READ_BYTES = 4 * 1024 * 1024;
const MAX_READ_MS = 5000;
const READ_COMMITTED = 1;

interface Fetched {
  readonly responses: readonly { readonly partitions: readonly FetchedPartition<readonly FetchedRecord[]>[] }[];
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
   * The newest records of each partition, in the order of their times: an equal share of `count`, at least one, of the 100 partitions that have
   * had most of them. Fewer after 4 MB or 5 s. Empty if the topic is.
   * @param ranges of the topic's partitions
   */
  async read(topic: string, ranges: ReadonlyMap<number, PartitionRange>, count: number): Promise<KafkaRecord[]> {
    const filled = [...ranges]
      .filter(([, { low, end }]) => low < end)
      .toSorted(([, a], [, b]) => b.end - a.end)
      .slice(0, MAX_PARTITIONS);
    if (filled.length === 0) return [];
    const share = Math.ceil(count / filled.length);
    const first = ({ low, end }: PartitionRange) => Math.max(low, end - share);
    const starts = new Map(filled.map(([partition, range]) => [partition, first(range)]));
    await this.#cluster.addMultipleTargetTopics([topic]);
    const records: KafkaRecord[] = [];
    const deadline = performance.now() + MAX_READ_MS;
    // A fetch has a large batch of its first partition only: the others come with the next one.
    for (let before = 0; before !== starts.size && performance.now() < deadline && bytesOf(records) < MAX_READ_BYTES;) {
      before = starts.size;
      for (const [partition, fetched] of await this.#fetch(topic, starts)) {
        const from = starts.get(partition)!;
        starts.delete(partition);
        const usable = fetched.filter(({ isControlRecord, offset }) => !isControlRecord && offset >= from);
        for (const { offset, timestamp, key, value, headers, poison } of usable.slice(-share))
          records.push({ topic, partition, offset, timestamp, key, value, headers, poison });
      }
    }
    return records.toSorted((a, b) => a.timestamp - b.timestamp);
  }

  /** One fetch from each leader. Omits partitions of which nothing came. */
  async #fetch(
    topic: string,
    starts: ReadonlyMap<number, number>,
  ): Promise<(readonly [number, readonly FetchedRecord[]])[]> {
    const options = { budget: this.#budget, maxInflatedBytes: MAX_INFLIGHT_BYTES };
    const leaders = Object.entries(this.#cluster.findLeaderForPartitions(topic, [...starts.keys()]));
    const maxBytes = Math.ceil(MAX_FETCH_BYTES / starts.size);
    const fetches = leaders.map(async ([nodeId, led]) => {
      const broker = (await this.#cluster.findBroker({ nodeId })) as unknown as Broker;
      const partitions = led.map((partition) => ({ partition, fetchOffset: `${starts.get(partition)}`, maxBytes }));
      const request = {
        isolationLevel: READ_COMMITTED,
        maxWaitTime: MAX_WAIT_MS,
        minBytes: 1,
        maxBytes: MAX_FETCH_BYTES,
        topics: [{ topic, partitions }],
      };
      const fetched = await boundedFetch(broker, new FetchDecoder(options), options).call(broker, request);
      return (fetched as Fetched).responses.flatMap((response) => response.partitions);
    });
    const fetched = (await Promise.all(fetches)).flat();
    return fetched
      .filter(({ messages }) => messages.length > 0)
      .map(({ partition, messages }) => [partition, messages] as const);
  }
}

function bytesOf(records: readonly KafkaRecord[]): number {
  return records.reduce((sum, { key, value }) => sum + (key?.length ?? 0) + (value?.length ?? 0), 0);
}
