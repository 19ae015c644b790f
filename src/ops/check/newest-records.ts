import type { Config } from '../../config/config.ts';
import type { KafkaRecord } from '../../kafka/batch.ts';
import { createKafkaClient } from '../../kafka/client/kafka-client.ts';
import { Cluster } from '../../kafka/client/cluster.ts';
import { RecentRecords } from '../../kafka/client/recent-records.ts';
import type { Unread } from '../../graph/record-check/described.ts';
import { createLog } from '../../base/log.ts';

export interface ReadRecord extends Pick<KafkaRecord, 'topic' | 'partition' | 'key' | 'value' | 'headers' | 'poison'> {
  /** In decimal, as a report names it. */
  readonly offset: string;
}

/** The newest records of a topic. */
export interface NewestRecords {
  readonly topic: string;
  readonly records: readonly ReadRecord[];
  /** Absent: the topic has no others. */
  readonly unread?: Unread;
}

/** Records of a topic that are compared with the graph unless another number is given; more where it has more partitions. */
const RECORDS = 50;
/** Longest time for all topics. */
const TIMEOUT_MS = 20_000;

/**
 * The newest records of each topic that exists and can be read. Joins no group and commits nothing.
 * @throws Error if Kafka does not answer in 20 s, or once `signal` is aborted
 */
export async function* newestRecords(
  config: Config,
  topics: readonly string[],
  signal?: AbortSignal,
  count = RECORDS,
): AsyncGenerator<NewestRecords> {
  signal?.throwIfAborted();
  // The worker logs what is wrong with the connection.
  const createClient = () => createKafkaClient(config, createLog('silent'));
  const client = createClient();
  const cluster = new Cluster(createClient);
  const end = () => {
    cluster.close();
    client.destroy();
  };
  const timer = setTimeout(end, TIMEOUT_MS);
  signal?.addEventListener('abort', end, { once: true });
  try {
    const existing = await cluster.existingTopics(topics);
    const reader = existing.length > 0 ? await RecentRecords.connect(client) : undefined;
    for (const topic of existing) {
      const newest = await readTopic(topic, cluster, reader!, count);
      if (newest) yield newest;
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
    end();
  }
}

/** undefined: its records cannot be read, which the consumer logs. */
async function readTopic(
  topic: string,
  cluster: Cluster,
  reader: RecentRecords,
  count: number,
): Promise<NewestRecords | undefined> {
  try {
    const ranges = (await cluster.partitionRanges([topic])).get(topic)!;
    const { records: read, isWhole } = await reader.read(topic, ranges, count);
    const records = read.map((record) => ({ ...record, offset: `${record.offset}` }));
    if (isWhole) return { topic, records };
    const total = [...ranges.values()].reduce((sum, { low, end }) => sum + end - low, 0);
    return { topic, records, unread: { read: read.length, total, mayReadMore: total > count } };
  } catch {
    return undefined;
  }
}
