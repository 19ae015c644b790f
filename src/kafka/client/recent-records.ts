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
/** Of one topic: so much for up to 50 records, in proportion for more, and at most the second number. */
const READ_BYTES = 4 * 1024 * 1024;
const MAX_READ_BYTES = 64 * 1024 * 1024;
const READ_BYTES_EACH = READ_BYTES / 50;
/** What an empty record takes. */
const RECORD_BYTES = 200;
const MAX_READ_MS = 5000;
const READ_COMMITTED = 1;

interface Fetched {
  readonly responses: readonly { readonly partitions: readonly FetchedPartition<readonly FetchedRecord[]>[] }[];
}

/** Newest records of a topic. */
export interface RecentRead {
  /** In the order of their times. */
  readonly records: readonly KafkaRecord[];
  /** True: the topic has no others that are readable. */
  readonly isWhole: boolean;
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
   * The newest records of each partition: an equal share of `count`, at least one, of the 100 partitions that have had most of them; what one has
   * less is shared by the others. Fewer after 5 s or 4 MiB (of more than 50, 80 KiB for each, at most 64 MiB).
   * @param ranges of the topic's partitions
   */
  async read(topic: string, ranges: ReadonlyMap<number, PartitionRange>, count: number): Promise<RecentRead> {
    const filled = [...ranges].filter(([, { low, end }]) => low < end).toSorted(([, a], [, b]) => b.end - a.end);
    const starts = startsOf(filled.slice(0, MAX_PARTITIONS), count);
    const isFromStart = filled.every(([partition, { low }]) => starts.get(partition) === low);
    const records: KafkaRecord[] = [];
    if (starts.size > 0) await this.#cluster.addMultipleTargetTopics([topic]);
    const deadline = performance.now() + MAX_READ_MS;
    const maxBytes = Math.min(MAX_READ_BYTES, Math.max(READ_BYTES, count * READ_BYTES_EACH));
    // A fetch has a large batch of its first partition only: the others come with the next one.
    for (let bytes = 0; starts.size > 0 && performance.now() < deadline && bytes < maxBytes;) {
      const fetched = await this.#fetch(topic, starts);
      if (fetched.length === 0) break;
      for (const [partition, messages] of fetched) {
        const from = starts.get(partition)!;
        const { end } = ranges.get(partition)!;
        for (const { offset, timestamp, key, value, headers, poison, isControlRecord } of messages) {
          if (isControlRecord || offset < from || offset >= end) continue;
          records.push({ topic, partition, offset, timestamp, key, value, headers, poison });
          bytes += RECORD_BYTES + (key?.length ?? 0) + (value?.length ?? 0);
        }
        // The end of a batch has its offset, even if compaction has removed the record.
        const next = messages.at(-1)!.offset + 1;
        // Behind the others.
        starts.delete(partition);
        if (next < end) starts.set(partition, next);
      }
    }
    return {
      records: records.toSorted((a, b) => a.timestamp - b.timestamp),
      isWhole: isFromStart && starts.size === 0,
    };
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

/** The offset of each partition from which its share of `count` is read. */
function startsOf(partitions: readonly (readonly [number, PartitionRange])[], count: number): Map<number, number> {
  const starts = new Map<number, number>();
  const ascending = partitions.toSorted(([, a], [, b]) => a.end - a.low - (b.end - b.low));
  let left = count;
  for (const [i, [partition, { low, end }]] of ascending.entries()) {
    const share = Math.max(1, Math.ceil(left / (ascending.length - i)));
    const start = Math.max(low, end - share);
    starts.set(partition, start);
    left -= end - start;
  }
  return starts;
}
