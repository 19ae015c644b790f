import { SetupError } from '../../base/errors.ts';
import { boundFetches } from '../client/patches/bounded-fetch.ts';
import type { KafkaClient } from '../client/kafka-client.ts';
import type { Cluster } from '../client/cluster.ts';
import { HandledOffsets } from './handled-offsets.ts';
import { InflightBudget } from '../client/fetching/inflight-budget.ts';
import { fetched } from '../client/fetching/record-batch.ts';
import type { FetchedRecord } from '../client/fetching/record-batch.ts';

const MAX_INFLIGHT_BYTES = 64 * 1024 * 1024;
const SESSION_TIMEOUT_MS = 30_000;

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
  if ((await cluster.existingTopics([topic])).length === 0) {
    throw new SetupError(
      `there is no topic ${topic}: nothing was dead-lettered, or KAFKA_DEAD_LETTER_TOPIC is another one`,
    );
  }
  const look = async () => {
    const committed = (await cluster.committedOffsets(groupId, [topic])).get(topic);
    // Read after the commits: a commit beyond these ends means that the topic was created again.
    const ranges = [...((await cluster.partitionRanges([topic])).get(topic) ?? [])];
    const handled = new Map<number, HandledOffsets>();
    for (const [partition, { low, end }] of ranges) {
      const commit = committed?.get(partition);
      const isKnown = commit !== undefined && commit.offset >= low && commit.offset <= end;
      handled.set(partition, isKnown ? new HandledOffsets(commit.offset, commit.metadata) : new HandledOffsets(low));
    }
    return { ranges, handled };
  };
  const { ranges, ...atStart } = await look();
  let { handled } = atStart;
  const ends = new Map<number, number>();
  for (const [partition, { end }] of ranges) {
    if (handled.get(partition)!.next < end) ends.set(partition, end);
  }
  if (ends.size === 0) return;

  const budget = new InflightBudget(MAX_INFLIGHT_BYTES);
  const consumer = client.kafka.consumer({
    groupId: joinedGroupId,
    sessionTimeout: SESSION_TIMEOUT_MS,
    maxWaitTimeInMs: 250,
    partitionAssigners: [boundFetches({ budget, maxInflatedBytes: MAX_INFLIGHT_BYTES })],
    retry: { retries: 5, initialRetryTime: 300, maxRetryTime: 2000, restartOnFailure: () => Promise.resolve(false) },
  });
  let positioning: Promise<void> = Promise.resolve();
  const finished = new Promise<void>((resolve, reject) => {
    const { events } = consumer;
    consumer.on(events.CRASH, ({ payload }) => reject(payload.error));
    consumer.on(events.GROUP_JOIN, ({ payload }) => {
      if ((payload.memberAssignment[topic]?.length ?? 0) < ranges.length) {
        reject(new Error(`another command reads in the group ${joinedGroupId}`));
      }
      for (const [partition, { next }] of handled) consumer.seek({ topic, partition, offset: `${next}` });
      // Another command may have handled records since. From this join on it cannot commit.
      positioning = look().then((latest) => {
        handled = latest.handled;
      }, reject);
    });
    consumer.on(events.END_BATCH_PROCESS, ({ payload: { partition, lastOffset } }) => {
      if (Number(lastOffset) + 1 >= (ends.get(partition) ?? 0)) ends.delete(partition);
      if (ends.size === 0) resolve();
    });
    const eachBatch = async (partition: number, messages: readonly FetchedRecord[]) => {
      await positioning;
      const offsets = handled.get(partition)!;
      const end = ends.get(partition) ?? 0;
      const records = messages.filter(({ offset }) => offset < end && !offsets.has(offset));
      const done = async (some: readonly FetchedRecord[]) => {
        if (some.length === 0) return;
        for (const { offset } of some) offsets.add(offset);
        const { next, metadata } = offsets;
        await consumer.commitOffsets([{ topic, partition, offset: `${next}`, metadata }]);
      };
      if (records.length > 0 && !(await handle({ records, done }))) resolve();
    };
    const run = async () => {
      await consumer.connect();
      await consumer.subscribe({ topics: [topic], fromBeginning: true });
      await consumer.run({
        autoCommit: false,
        // kafkajs would retry an error that is thrown here.
        eachBatch: ({ batch: { partition, messages } }) => eachBatch(partition, fetched(messages)).catch(reject),
      });
    };
    run().catch(reject);
  });
  try {
    await finished;
  } finally {
    await consumer.disconnect().catch(() => undefined);
  }
}
