import { SetupError } from '../../base/errors.ts';
import type { KafkaClient } from '../client/kafka-client.ts';
import type { Cluster } from '../client/cluster.ts';
import { GroupConsumer } from '../client/group-consumer.ts';
import type { Batch } from '../client/group-consumer.ts';
import { HandledOffsets } from './handled-offsets.ts';
import { InflightBudget } from '../client/fetching/inflight-budget.ts';
import type { FetchedRecord } from '../client/fetching/record-batch.ts';

const MAX_INFLIGHT_BYTES = 64 * 1024 * 1024;
/** One batch at a time: `handle` is not called again before it has resolved. */
const CONSUMER = {
  sessionTimeoutMs: 30_000,
  heartbeatIntervalMs: 3000,
  rebalanceTimeoutMs: 60_000,
  concurrency: 1,
  maxInflatedBytes: MAX_INFLIGHT_BYTES,
};

export interface DeadLetterReaderOptions {
  readonly topic: string;
  /** Consumer group whose commits mark records as done. */
  readonly groupId: string;
  /** Group that the reader joins: `groupId` if it commits. */
  readonly joinedGroupId: string;
  readonly client: KafkaClient;
  readonly cluster: Pick<Cluster, 'existingTopics' | 'partitionRanges' | 'committedOffsets'>;
}

/** Records of one partition of the dead-letter topic, in order. */
export interface DeadLetters {
  readonly records: readonly FetchedRecord[];
  /** Commits that these records are done. */
  done(records: readonly FetchedRecord[]): Promise<void>;
}

/**
 * Reads the records of the dead-letter topic that are not done, up to its end at the time of the call. Stops when `handle` resolves
 * with false.
 * @throws Error if the topic does not exist or another command reads in the group; errors of `handle`
 */
export async function readDeadLetters(
  { topic, groupId, joinedGroupId, client, cluster }: DeadLetterReaderOptions,
  handle: (deadLetters: DeadLetters) => Promise<boolean>,
): Promise<void> {
  await requireTopic(topic, cluster);
  const look = () => lookUp(topic, groupId, cluster);
  const { ranges, ends, ...atStart } = await look();
  let { handled } = atStart;
  if (ends.size === 0) return;

  let consumer!: GroupConsumer;
  let positioning: Promise<void> = Promise.resolve();
  const finished = new Promise<void>((resolve, reject) => {
    const pass = (partition: number, lastOffset: number) => {
      if (lastOffset + 1 >= (ends.get(partition) ?? 0)) ends.delete(partition);
      if (ends.size === 0) resolve();
    };
    const read = async ({ partition, records: fetched, lastOffset, resolve: accept }: Batch) => {
      await positioning;
      const offsets = handled.get(partition)!;
      const end = ends.get(partition) ?? 0;
      const records = fetched.filter(({ offset }) => offset < end && !offsets.has(offset));
      const done = async (some: readonly FetchedRecord[]) => {
        if (some.length === 0) return;
        for (const { offset } of some) offsets.add(offset);
        const { next, metadata } = offsets;
        await consumer.commit([{ topic, partition, offset: next, metadata }]);
      };
      if (records.length > 0 && !(await handle({ records, done }))) resolve();
      accept(lastOffset);
      pass(partition, lastOffset);
    };
    consumer = new GroupConsumer(client, {
      groupId: joinedGroupId,
      topics: [topic],
      ...CONSUMER,
      budget: new InflightBudget(MAX_INFLIGHT_BYTES),
      // kafkajs would retry an error that is thrown here.
      onBatch: (batch) => read(batch).catch(reject),
      onJoin: (assigned) => {
        if ((assigned.get(topic)?.length ?? 0) < ranges.length)
          reject(new Error(`another command reads in the group ${joinedGroupId}`));
        for (const [partition, { next }] of handled) consumer.seek({ topic, partition, offset: next });
        // Another command may have handled records since. From this join on it cannot commit.
        positioning = look().then((latest) => {
          handled = latest.handled;
        }, reject);
      },
      onFailure: reject,
      onEmptyBatch: ({ partition, lastOffset }) => pass(partition, lastOffset),
    });
    consumer.start().catch(reject);
  });
  try {
    await finished;
  } finally {
    await consumer.close();
  }
}

async function requireTopic(topic: string, cluster: DeadLetterReaderOptions['cluster']): Promise<void> {
  if ((await cluster.existingTopics([topic])).length > 0) return;
  throw new SetupError(
    `there is no topic ${topic}: nothing was dead-lettered, or KAFKA_DEAD_LETTER_TOPIC is another one`,
  );
}

/** The partitions, which of their records are done, and the ends of those that have others. */
async function lookUp(topic: string, groupId: string, cluster: DeadLetterReaderOptions['cluster']) {
  const committed = (await cluster.committedOffsets(groupId, [topic])).get(topic);
  // Read after the commits: a commit beyond these ends means that the topic was created again.
  const ranges = [...((await cluster.partitionRanges([topic])).get(topic) ?? [])];
  const handled = new Map<number, HandledOffsets>();
  const ends = new Map<number, number>();
  for (const [partition, { low, end }] of ranges) {
    const commit = committed?.get(partition);
    const isKnown = commit !== undefined && commit.offset >= low && commit.offset <= end;
    const offsets = isKnown ? new HandledOffsets(commit.offset, commit.metadata) : new HandledOffsets(low);
    handled.set(partition, offsets);
    if (offsets.next < end) ends.set(partition, end);
  }
  return { ranges, handled, ends };
}
