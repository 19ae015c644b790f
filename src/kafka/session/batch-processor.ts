import { BusUnavailableError, FencedError } from '../../base/errors.ts';
import { LogWindow } from '../../base/log.ts';
import { orAborted } from '../../base/or-aborted.ts';
import type { Logger } from '../../base/log.ts';
import type { Chunk, KafkaRecord } from '../batch.ts';
import { SchemaUnavailableError } from '../decoding/schema-errors.ts';
import type { Batch, GroupConsumer } from '../client/group-consumer.ts';
import type { PublishTerms, RecordPublisher } from '../record-publisher.ts';
import { TopicStoppedError } from '../undecodable-limit.ts';
import type { Commits } from './commits.ts';
import type { Detachment } from './detachment.ts';
import type { Ownership } from './ownership.ts';
import type { PartitionLeases } from './partition-leases.ts';
import type { PartitionWaits } from './partition-waits.ts';
import type { RetryWait } from './retry-wait.ts';

/** Longest wait of a batch for the dead-letter topic. Then its partition is paused, and the other partitions are read on. */
const DEAD_LETTER_PATIENCE_MS = 200;
const FENCE_LOG_WINDOW_MS = 5000;

export interface BatchProcessorOptions {
  readonly consumer: Pick<GroupConsumer, 'pause' | 'resume' | 'heartbeat' | 'joining'>;
  readonly publisher: Pick<RecordPublisher, 'chunker' | 'publishNext'>;
  readonly leases: PartitionLeases;
  readonly commits: Commits;
  readonly waits: Pick<PartitionWaits, 'bus' | 'schemas' | 'deadLetters' | 'stopped'>;
  readonly log: Logger;
  readonly isClosing: () => boolean;
  /** True if the coordinator confirmed the membership within the last half of the session timeout. */
  readonly isConfirmedMember: () => boolean;
  /** `position`: the next offset to read. */
  readonly onAccepted: (topic: string, partition: number, position: number) => void;
}

/** A batch that is being processed. */
interface BatchRun {
  readonly batch: Batch;
  readonly ownership: Ownership;
  /** True while no other member and no later batch of this one may have its records. */
  readonly isOurs: () => boolean;
  /** True while further records may be published. */
  readonly canContinue: () => boolean;
}

/** Processes one batch of one partition: leases the partition, publishes the records, and resolves their offsets once accepted. */
export class BatchProcessor {
  readonly #options: BatchProcessorOptions;
  readonly #fenceLog = new LogWindow(FENCE_LOG_WINDOW_MS);

  constructor(options: BatchProcessorOptions) {
    this.#options = options;
  }

  /**
   * @throws every error except those that pause the partition (a refusal by the bus, a schema that cannot be had, a stopped topic), and a
   * fencing, after which it is leased again if this member still owns it.
   */
  async process(batch: Batch, ownership: Ownership, detachment: Detachment): Promise<void> {
    const { leases, commits, isClosing } = this.#options;
    const { topic, partition } = batch;
    const { flowSignal: signal } = ownership;
    const rewinds = leases.rewindsOf(topic, partition);
    // kafkajs no longer calls the batch stale once it has applied the seek, which a detached batch may outlive.
    const isOurs = () => !ownership.hasEnded && !batch.isStale() && leases.rewindsOf(topic, partition) === rewinds;
    const canContinue = () => !isClosing() && !signal.aborted && batch.isRunning() && isOurs();
    await ownership.positioning;
    if (!ownership.isPositioned || !canContinue()) return;
    try {
      await this.#publish({ batch, ownership, isOurs, canContinue }, detachment);
    } catch (error) {
      if (error instanceof FencedError) return await this.#onFenced(batch, ownership, detachment);
      const pause = this.#pauseAfter(error as Error);
      if (!pause) throw error;
      if (canContinue()) pause(topic, partition);
    } finally {
      if (!batch.isRunning() || signal.aborted) await commits.commitNow();
    }
  }

  /** Publishes the batch in chunks, and accepts each: that schedules the commit. */
  async #publish(run: BatchRun, detachment: Detachment): Promise<void> {
    const { consumer, publisher, leases } = this.#options;
    const { batch, ownership, isOurs, canContinue } = run;
    const { topic, partition } = batch;
    const [first] = batch.records;
    if (first) await leases.acquire(topic, partition, first.offset);
    const { flowSignal, endSignal } = ownership;
    const terms: PublishTerms = {
      // A batch that the budget cannot keep is fetched again.
      mayWait: () => detachment.detach(),
      flowSignal,
      endSignal,
      handledUpTo: leases.handledUpTo(topic, partition),
    };
    const chunks = publisher.chunker(recordsOf(batch));
    while (canContinue() && chunks.next()) {
      const published = await publisher.publishNext(chunks, terms);
      if (!published) return;
      const { chunk, deadLettered } = published;
      const isDeadLettered = await isResolvedWithin(deadLettered, DEAD_LETTER_PATIENCE_MS);
      // The partition may have moved to another member, which reads it from the last commit.
      if (ownership.hasEnded) return;
      if (isDeadLettered) leases.handle(topic, partition, chunk.last.offset);
      if (!isOurs()) return;
      if (isDeadLettered) this.#accept(batch, chunk.last);
      else this.#waitForDeadLetters(run, chunk, deadLettered!);
      await consumer.heartbeat();
      if (!isDeadLettered) return;
    }
  }

  /** Every record up to this one is published or dead-lettered. */
  #accept(batch: Batch, { offset }: KafkaRecord): void {
    const { leases, waits, onAccepted } = this.#options;
    const { topic, partition, records, lastOffset } = batch;
    batch.resolve(offset);
    leases.accept(topic, partition, offset);
    onAccepted(topic, partition, (offset === records.at(-1)?.offset ? lastOffset : offset) + 1);
    waits.bus.delete(topic, partition);
    waits.schemas.delete(topic, partition);
  }

  /** How an error pauses the partition; undefined: it ends the session. */
  #pauseAfter(error: Error): ((topic: string, partition: number) => void) | undefined {
    const { bus, schemas, stopped } = this.#options.waits;
    if (error instanceof BusUnavailableError) return (...of) => this.#waitFor(bus, schemas, error, ...of);
    if (error instanceof SchemaUnavailableError) return (...of) => this.#waitFor(schemas, bus, error, ...of);
    if (!(error instanceof TopicStoppedError)) return undefined;
    return (topic, partition) => {
      this.#options.consumer.pause([{ topic, partition }]);
      stopped.add({ topic, partition, error: error.message });
    };
  }

  /** Pauses the partition until it is tried again. Keeps no reference to the batch's records, which no budget counts any more. */
  #waitFor(wait: RetryWait, other: RetryWait, error: Error, topic: string, partition: number): void {
    const { consumer } = this.#options;
    const paused = [{ topic, partition }];
    consumer.pause(paused);
    other.delete(topic, partition);
    wait.add(topic, partition, () => consumer.resume(paused), error);
  }

  /** Accepts the records before the chunk's poison, and the others once the poison is written: until then the partition is paused. */
  #waitForDeadLetters({ batch, ownership, isOurs }: BatchRun, chunk: Chunk, deadLettered: Promise<void>): void {
    const { consumer, leases, waits } = this.#options;
    const { last, lastBeforePoison } = chunk;
    const { topic, partition } = batch;
    const paused = [{ topic, partition }];
    if (lastBeforePoison) this.#accept(batch, lastBeforePoison);
    consumer.pause(paused);
    waits.bus.delete(topic, partition);
    waits.schemas.delete(topic, partition);
    waits.deadLetters.add({ topic, partition });
    void deadLettered.then(
      () => {
        if (ownership.hasEnded) return;
        leases.handle(topic, partition, last.offset);
        // Else the partition is read again from an earlier record.
        if (isOurs()) this.#accept(batch, last);
        waits.deadLetters.delete(topic, partition);
        consumer.resume(paused);
      },
      // The ownership has ended: the partition's next owner starts with these records.
      () => undefined,
    );
  }

  /**
   * Only a member may take a lease back from another worker. Kafka assigns a partition to another member one session timeout after the
   * last heartbeat at the earliest, and this heartbeat is sent if the last one is more than 1 s old. So either the membership is
   * confirmed, or this throws and the partition stays fenced until a coordinator answers or the group is joined again. During a join the
   * partition's new owner may have learned of it first: two members would take the lease from each other until this one learns of it, too.
   */
  async #onFenced({ topic, partition }: Batch, ownership: Ownership, detachment: Detachment): Promise<void> {
    const { consumer, leases, log, isConfirmedMember } = this.#options;
    const { flowSignal } = ownership;
    await consumer.heartbeat();
    if (consumer.joining && !flowSignal.aborted) {
      detachment.detach();
      await orAborted(consumer.joining, flowSignal, () => new Error('aborted')).catch(() => undefined);
    }
    if (flowSignal.aborted) return;
    if (!isConfirmedMember()) {
      throw new Error('the bus fenced a partition, and no coordinator confirms that this member owns it');
    }
    this.#fenceLog.run('fenced', (suppressed) =>
      log.warn({ topic, partition, suppressed }, 'the bus fenced the partition; leasing it again'),
    );
    leases.drop(topic, partition);
  }
}

function* recordsOf({ topic, partition, records }: Batch): Generator<KafkaRecord> {
  for (const { offset, timestamp, key, value, headers, poison } of records) {
    yield { topic, partition, offset, timestamp, key, value, headers, poison };
  }
}

/** True if the promise resolves in time, or is undefined. False at a rejection, which is handled. */
async function isResolvedWithin(promise: Promise<void> | undefined, timeoutMs: number): Promise<boolean> {
  if (!promise) return true;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  const resolved = promise.then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([resolved, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
