import type { Config } from '../../config/config.ts';
import type { KafkaRecord } from '../../kafka/batch.ts';
import { createKafkaClient } from '../../kafka/client/kafka-client.ts';
import { Cluster } from '../../kafka/client/cluster.ts';
import { RecentRecords } from '../../kafka/client/recent-records.ts';
import { createLog } from '../../base/log.ts';

export interface ReadRecord extends Pick<KafkaRecord, 'topic' | 'partition' | 'key' | 'value' | 'headers' | 'poison'> {
  /** In decimal, as a report names it. */
  readonly offset: string;
}

/** Records of a topic that are compared with the graph; more where it has more partitions. */
const MAX_RECORDS = 50;
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
): AsyncGenerator<readonly [topic: string, records: readonly ReadRecord[]]> {
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
      const records = await readTopic(topic, cluster, reader!);
      if (records) yield [topic, records];
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
    end();
  }
}

/** undefined: its records cannot be read, which the consumer logs. */
async function readTopic(topic: string, cluster: Cluster, reader: RecentRecords): Promise<ReadRecord[] | undefined> {
  try {
    const ranges = (await cluster.partitionRanges([topic])).get(topic)!;
    const records = await reader.read(topic, ranges, MAX_RECORDS);
    return records.map((record) => ({ ...record, offset: `${record.offset}` }));
  } catch {
    return undefined;
  }
}
