import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import type { TestContext } from 'node:test';
import { createTopics } from '../../stack/topics.ts';
import { kafkaBrokers, randomName, redisServer } from '../support/services.ts';
import { MARK, Subscriber } from '../support/subscriber.ts';
import { waitFor } from '../support/wait-for.ts';
import { interestOf, recordValue, SUBJECTS, TOPICS } from './flows.ts';
import type { Interest, Subject } from './flows.ts';
import { audit, createEntry, summaryOf } from '../support/ledger.ts';
import type { Entry } from '../support/ledger.ts';
import type { Pod } from './pod.ts';
import { spawnPod } from './pod-process.ts';
import { kafkajsProducer, kcatProducer, stableMembers } from './producers.ts';
import type { OutgoingRecord, Produce } from './producers.ts';

const PARTITIONS = 4;
const RECORDS = 5000;
const CLIENTS = 200;
/** A hanging test fails after this time and names what is missing. */
const PATIENCE_MS = 120_000;

interface Written {
  readonly subject: Subject;
  readonly partition: number;
  readonly entry: Entry;
}

it(
  'delivers every record of Kafka to every matching subscriber on two pods exactly once, in partition order, and to nobody else',
  { timeout: 300_000 },
  async (t) => {
    const stack = await startStack(t);
    const { pods, produce } = stack;
    const subscribers = Array.from(
      { length: CLIENTS },
      (_, i) => new Subscriber(t, pods[i % pods.length]!.url, interestOf(Math.floor(i / pods.length))),
    );
    await openEveryPath(subscribers, produce);

    const ledger = writeLedger();
    await produce(ledger);
    await produce(marks(MARK.end));
    await waitFor(
      'the end mark of every partition at every client',
      () => subscribers.every(({ finished }) => finished.size === PARTITIONS),
      PATIENCE_MS,
    ).catch(() => undefined);

    assert.deepEqual(shortcomings(subscribers, ledger), []);
    assert.ok(subscribers.every(({ received }) => received.length > 0));

    assert.deepEqual(await Promise.all(pods.map((pod) => pod.stop())), [0, 0]);
    await waitFor('every client to be closed', () => subscribers.every(({ closeCode }) => closeCode !== undefined));
    assert.deepEqual([...new Set(subscribers.map(({ closeCode }) => closeCode))], [1001]);
  },
);

interface Stack {
  readonly pods: readonly Pod[];
  /** Writes shipments with kcat and the other topics with kafkajs. */
  readonly produce: (written: readonly Written[]) => Promise<void>;
}

async function startStack(t: TestContext): Promise<Stack> {
  const suffix = randomName('ledger');
  const group = randomName('group');
  const topicOf = (topic: string) => `${topic}-${suffix}`;
  const brokers = await kafkaBrokers(t);
  const redis = await redisServer(t);
  const topics = [...TOPICS, 'dead-letter'].map((topic) => ({ topic: topicOf(topic), numPartitions: PARTITIONS }));
  await createTopics(brokers, topics);
  const settings = {
    GRAPH: await ledgerGraph(t, topicOf),
    KAFKA_BROKERS: brokers,
    KAFKA_GROUP_ID: group,
    KAFKA_DEAD_LETTER_TOPIC: topicOf('dead-letter'),
    REDIS_URL: redis.url,
    CHANNEL_PREFIX: `${suffix}:`,
    LOG_LEVEL: 'warn',
  };
  const pods = await Promise.all([spawnPod(t, settings).started(), spawnPod(t, settings).started()]);
  // A rebalance in the middle of the ledger may repeat records, because delivery is at-least-once.
  await waitFor('both pods in one stable group', async () => (await stableMembers(brokers, group)) === 2, 60_000);

  const kcat = kcatProducer(brokers);
  const kafkajs = await kafkajsProducer(t, brokers);
  const produceBy = (producer: Produce, written: readonly Written[]) =>
    producer(written.map((item) => outgoing(item, topicOf(item.subject.topic))));
  return {
    pods,
    produce: async (written) => {
      await Promise.all([
        produceBy(
          kcat,
          written.filter(({ subject }) => subject.topic === 'shipments'),
        ),
        produceBy(
          kafkajs,
          written.filter(({ subject }) => subject.topic !== 'shipments'),
        ),
      ]);
    },
  };
}

/** The fixture's graph with this test's topics. */
async function ledgerGraph(t: TestContext, topicOf: (topic: string) => string): Promise<string> {
  const fixture = join(process.cwd(), 'test', 'end-to-end', 'fixtures', 'ledger', 'schema.graphql');
  const schema = await readFile(fixture, 'utf8');
  const folder = await mkdtemp(join(tmpdir(), 'crier-ledger-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const named = schema.replace(/topic: "(\w+)"/g, (_, topic: string) => `topic: "${topicOf(topic)}"`);
  await writeFile(join(folder, 'schema.graphql'), named);
  return folder;
}

function outgoing({ subject, partition, entry }: Written, topic: string): OutgoingRecord {
  return { topic, partition, key: entry.lane, value: JSON.stringify(recordValue(subject, entry)) };
}

/** One mark of every subject in every partition. */
function marks(sequence: number): Written[] {
  return SUBJECTS.flatMap((subject) =>
    Array.from({ length: PARTITIONS }, (_, partition) => ({
      subject,
      partition,
      entry: createEntry(`${subject.topic}/${partition}`, sequence, 'mark'),
    })),
  );
}

/** Writes marks until each client has one of each partition, because the protocol does not acknowledge a subscribe. */
async function openEveryPath(subscribers: readonly Subscriber[], produce: Stack['produce']): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await produce(marks(MARK.start));
    try {
      await waitFor(
        'the start mark of every partition at every client',
        () => subscribers.every(({ started }) => started.size === PARTITIONS),
        3000,
      );
      return;
    } catch (error) {
      const failures = subscribers.flatMap((subscriber) => subscriber.failures);
      if (failures.length > 0) throw new Error(`${failures.length} clients failed; the first: ${failures[0]}`);
      if (attempt === 20) throw error;
    }
  }
}

function writeLedger(): Written[] {
  const sequences = new Map<string, number>();
  return Array.from({ length: RECORDS }, (_, i) => {
    // 21 subjects and 4 partitions are coprime, so every subject is written to every partition.
    const subject = SUBJECTS[i % SUBJECTS.length]!;
    const partition = i % PARTITIONS;
    const lane = `${subject.topic}/${partition}`;
    const sequence = (sequences.get(lane) ?? 0) + 1;
    sequences.set(lane, sequence);
    return { subject, partition, entry: createEntry(lane, sequence, contentOf(i)) };
  });
}

/** Text that a fault in JSON, UTF-8 or key conversion would corrupt. */
function contentOf(i: number): string {
  return `${i} camelCase snake_case "\\u0041" \\ \t\n é 漢字 😀 \u2028 ${'x'.repeat(i % 300)}`;
}

function shortcomings(subscribers: readonly Subscriber<Interest>[], ledger: readonly Written[]): string[] {
  return subscribers.flatMap(({ interest, received, failures }, i) => {
    const written = ledger.filter(({ subject }) => interest.wants(subject)).map(({ entry }) => entry);
    const summary = [summaryOf(audit(written, received)), ...failures].filter((text) => text !== '').join('; ');
    return summary === '' ? [] : [`client ${i} (${interest.topic} ${JSON.stringify(interest.variables)}): ${summary}`];
  });
}
