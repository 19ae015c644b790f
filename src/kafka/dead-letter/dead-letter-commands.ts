import { SetupError } from '../../base/errors.ts';
import type { RecordHeaders } from '../batch.ts';
import type { KafkaClient } from '../client/kafka-client.ts';
import type { Cluster } from '../client/cluster.ts';
import { isTooLarge } from '../client/kafka-errors.ts';
import { partitionerOf, Producer } from '../client/producer.ts';
import { readDeadLetters } from './dead-letter-reader.ts';
import { factsOf, groupsOf, originalHeaders } from './dead-record.ts';
import type { DeadLetterFacts } from './dead-record.ts';
import type { FetchedRecord } from '../client/fetching/record-batch.ts';

/** Dead letters per commit. The next command after a killed one replays at most this many again. */
const STEP_RECORDS = 100;
const WRITE_TIMEOUT_MS = 15_000;
/** About 10 s per write. */
const WRITE_RETRIES = 12;

export const DEAD_LETTER_ACTIONS = ['list', 'replay', 'drop'] as const;

export interface DeadLetterCommand {
  readonly action: (typeof DEAD_LETTER_ACTIONS)[number];
  /** Reports what would be done, and changes nothing. */
  readonly isDryRun: boolean;
  /** Topic of the original record; undefined: any. */
  readonly topic: string | undefined;
  readonly reason: string | undefined;
  /** Maximum number of dead letters. */
  readonly limit: number;
}

/** A record of the dead-letter topic. */
export interface DeadLetterEntry {
  readonly facts: DeadLetterFacts;
  readonly record: FetchedRecord;
}

export interface DeadLetterOutcome {
  /** Listed, replayed or dropped; in a dry run: would have been. */
  done: number;
  /** Not replayed, because a part of the record was omitted, or it is too large for its topic. They stay. */
  refused: number;
}

export interface DeadLetterCommandPorts {
  /** The dead-letter topic. */
  readonly topic: string;
  /** Consumer group whose commits mark dead letters as done. */
  readonly groupId: string;
  readonly client: KafkaClient;
  readonly cluster: Pick<Cluster, 'existingTopics' | 'partitionRanges' | 'committedOffsets'>;
  readonly onEntry: (entry: DeadLetterEntry) => void;
  /** Called for each dead letter that is too large for its topic. */
  readonly onTooLarge: (entry: DeadLetterEntry) => void;
  /** Called after each step. */
  readonly onProgress: (outcome: Readonly<DeadLetterOutcome>) => void;
}

/** Lists, replays or drops the dead letters that are not done yet. @throws errors of Kafka; dead letters done before stay done. */
export async function runDeadLetterCommand(
  command: DeadLetterCommand,
  ports: DeadLetterCommandPorts,
): Promise<Readonly<DeadLetterOutcome>> {
  const { action, isDryRun, topic, reason, limit } = command;
  const { client, cluster, onEntry, onTooLarge, onProgress } = ports;
  const isReading = action === 'list' || isDryRun;
  const outcome: DeadLetterOutcome = { done: 0, refused: 0 };
  const producer = new Producer(client, { isIdempotent: true, retry: { retries: WRITE_RETRIES } });
  if (action === 'replay' && !isDryRun) await producer.connect();
  try {
    // A command that only reads joins a group of its own: it does not displace a command that replays.
    const joinedGroupId = isReading ? `${ports.groupId}-${Date.now().toString(36)}` : ports.groupId;
    await readDeadLetters(
      { topic: ports.topic, groupId: ports.groupId, joinedGroupId, client, cluster },
      async (letters) => {
        const entries = entriesOf(
          letters.records,
          (facts) => (topic ?? facts.topic) === facts.topic && (reason ?? facts.reason) === facts.reason,
        );
        for (let at = 0; at < entries.length && outcome.done < limit;) {
          const step = entries.slice(at, at + Math.min(STEP_RECORDS, limit - outcome.done));
          at += step.length;
          for (const entry of step) onEntry(entry);
          let handled = action === 'replay' ? step.filter(({ facts }) => !facts.isPartial) : step;
          if (action === 'replay' && !isDryRun) {
            const tooLarge = await replay(producer, cluster, handled);
            for (const entry of tooLarge) onTooLarge(entry);
            handled = handled.filter((entry) => !tooLarge.has(entry));
          }
          if (!isReading) await letters.done(handled.map(({ record }) => record));
          outcome.done += handled.length;
          outcome.refused += step.length - handled.length;
          onProgress(outcome);
        }
        return outcome.done < limit;
      },
    );
  } finally {
    await producer.disconnect().catch(() => undefined);
  }
  return outcome;
}

function entriesOf(
  records: readonly FetchedRecord[],
  isWanted: (facts: DeadLetterFacts) => boolean,
): DeadLetterEntry[] {
  return records.flatMap((record) => {
    const facts = factsOf(record.headers);
    return facts && isWanted(facts) ? [{ facts, record }] : [];
  });
}

type OriginalRecord = Pick<FetchedRecord, 'key' | 'value'> & {
  readonly entry: DeadLetterEntry;
  readonly headers: RecordHeaders;
  readonly timestamp?: string;
  readonly partition: number;
};

/**
 * Writes the original records to their partitions, or by key if a partition no longer exists. Resolves with the dead letters that are
 * too large for their topics: their producer compressed them, or wrote them under another limit.
 */
async function replay(
  producer: Producer,
  cluster: Pick<Cluster, 'partitionRanges'>,
  entries: readonly DeadLetterEntry[],
): Promise<ReadonlySet<DeadLetterEntry>> {
  const tooLarge = new Set<DeadLetterEntry>();
  const topics = [...new Set(entries.map(({ facts }) => facts.topic))];
  const ranges = await cluster.partitionRanges(topics);
  const absent = topics.find((topic) => !ranges.get(topic)?.size);
  if (absent !== undefined) throw new SetupError(`there is no topic ${absent}: create it, or drop its dead letters`);
  for (const topic of topics) {
    const partitions = [...ranges.get(topic)!.keys()];
    const partitionOf = partitionerOf(topic, partitions);
    const byPartition = new Map<number, OriginalRecord[]>();
    for (const entry of entries) {
      const { facts, record } = entry;
      if (facts.topic !== topic) continue;
      const { key, value } = record;
      const partition = partitions.includes(facts.partition) ? facts.partition : partitionOf({ key, value });
      const headers = originalHeaders(record.headers);
      const original = {
        entry,
        key,
        value,
        headers,
        partition,
        ...(facts.timestamp !== '' && { timestamp: facts.timestamp }),
      };
      byPartition.set(partition, [...(byPartition.get(partition) ?? []), original]);
    }
    for (const records of byPartition.values()) {
      for (const group of groupsOf(records, (record) => record)) {
        for (const { entry } of await write(producer, topic, group)) tooLarge.add(entry);
      }
    }
  }
  return tooLarge;
}

/**
 * Writes one batch to one partition. One per call: kafkajs renumbers all batches of a failed call, so the broker could mistake other
 * records for duplicates. A batch that is too large for its topic is split in halves. Resolves with the records that are too large
 * on their own.
 */
async function write(producer: Producer, topic: string, messages: OriginalRecord[]): Promise<OriginalRecord[]> {
  try {
    await producer.produce(topic, messages, WRITE_TIMEOUT_MS);
    return [];
  } catch (error) {
    if (!isTooLarge(error)) throw error;
    if (messages.length === 1) return messages;
    const middle = Math.ceil(messages.length / 2);
    const first = await write(producer, topic, messages.slice(0, middle));
    return [...first, ...(await write(producer, topic, messages.slice(middle)))];
  }
}
