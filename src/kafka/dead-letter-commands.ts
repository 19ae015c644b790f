import kafkajs from 'kafkajs';
import type { KafkaMessage, Message as OutgoingRecord, Producer } from 'kafkajs';
import type { KafkaClient } from './client.ts';
import type { Cluster } from './cluster.ts';
import { readDeadLetters } from './dead-letter-reader.ts';
import { factsOf, originalHeaders } from './dead-record.ts';
import type { DeadLetterFacts } from './dead-record.ts';

/** Dead letters between two commits: a command that is killed in between replays as many again, at most. */
const STEP_RECORDS = 100;
const WRITE_TIMEOUT_MS = 15_000;

export const DEAD_LETTER_ACTIONS = ['list', 'replay', 'drop'] as const;

export interface DeadLetterCommand {
  readonly action: (typeof DEAD_LETTER_ACTIONS)[number];
  /** Only says what would be done. */
  readonly isDryRun: boolean;
  /** Of the original record; undefined: any. */
  readonly topic: string | undefined;
  readonly reason: string | undefined;
  /** Most dead letters. */
  readonly limit: number;
}

/** A record of the dead-letter topic. */
export interface DeadLetterEntry {
  readonly facts: DeadLetterFacts;
  readonly record: KafkaMessage;
}

export interface DeadLetterOutcome {
  /** Listed, replayed or dropped; in a dry run: would have been. */
  done: number;
  /** Not replayed, because a part of the record was left out. They stay. */
  partial: number;
}

export interface DeadLetterCommandPorts {
  /** The dead-letter topic. */
  readonly topic: string;
  /** Its commits say which dead letters are done. */
  readonly groupId: string;
  readonly client: KafkaClient;
  readonly cluster: Pick<Cluster, 'existingTopics' | 'partitionRanges' | 'committedOffsets'>;
  readonly onEntry: (entry: DeadLetterEntry) => void;
  /** Called after each step. */
  readonly onProgress: (outcome: Readonly<DeadLetterOutcome>) => void;
}

/** Lists, replays or drops the dead letters that are not done yet. @throws what Kafka refuses; what was done before stays done. */
export async function runDeadLetterCommand(
  command: DeadLetterCommand,
  ports: DeadLetterCommandPorts,
): Promise<Readonly<DeadLetterOutcome>> {
  const { action, isDryRun, topic, reason, limit } = command;
  const { client, cluster, onEntry, onProgress } = ports;
  const isReading = action === 'list' || isDryRun;
  const outcome: DeadLetterOutcome = { done: 0, partial: 0 };
  const producer = client.kafka.producer({
    allowAutoTopicCreation: false,
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  });
  if (action === 'replay' && !isDryRun) await producer.connect();
  try {
    // Whoever only reads needs no place in the group, and does not take that of a command that replays.
    const memberOf = isReading ? `${ports.groupId}-${Date.now().toString(36)}` : ports.groupId;
    await readDeadLetters(
      { topic: ports.topic, groupId: ports.groupId, memberOf, client, cluster },
      async (letters) => {
        const entries = entriesOf(
          letters.records,
          (facts) => (topic ?? facts.topic) === facts.topic && (reason ?? facts.reason) === facts.reason,
        );
        for (let at = 0; at < entries.length && outcome.done < limit;) {
          const step = entries.slice(at, at + Math.min(STEP_RECORDS, limit - outcome.done));
          at += step.length;
          for (const entry of step) onEntry(entry);
          const whole = action === 'replay' ? step.filter(({ facts }) => !facts.isPartial) : step;
          if (action === 'replay' && !isDryRun) await replay(producer, cluster, whole);
          if (!isReading) await letters.done(whole.map(({ record }) => record));
          outcome.done += whole.length;
          outcome.partial += step.length - whole.length;
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

function entriesOf(records: readonly KafkaMessage[], isWanted: (facts: DeadLetterFacts) => boolean): DeadLetterEntry[] {
  return records.flatMap((record) => {
    const facts = factsOf(record.headers);
    return facts && isWanted(facts) ? [{ facts, record }] : [];
  });
}

/** Writes the original records, to the partitions that they came from where these are still there. */
async function replay(
  producer: Producer,
  cluster: Pick<Cluster, 'partitionRanges'>,
  entries: readonly DeadLetterEntry[],
): Promise<void> {
  const topics = [...new Set(entries.map(({ facts }) => facts.topic))];
  const ranges = await cluster.partitionRanges(topics);
  for (const topic of topics) {
    const messages = entries
      .filter(({ facts }) => facts.topic === topic)
      .map(({ facts, record }): OutgoingRecord => {
        const { partition, timestamp } = facts;
        return {
          key: record.key,
          value: record.value,
          headers: originalHeaders(record.headers),
          ...(timestamp !== '' && { timestamp }),
          ...(ranges.get(topic)?.has(partition) && { partition }),
        };
      });
    await producer.send({ topic, messages, acks: -1, timeout: WRITE_TIMEOUT_MS });
  }
}
