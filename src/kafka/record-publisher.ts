import type { ChannelMessage } from '../bus/bus-message.ts';
import type { Position } from '../bus/publisher.ts';
import { failureOf } from '../bus/publish-failure.ts';
import { LogWindow } from '../base/log.ts';
import type { Logger } from '../base/log.ts';
import { Chunker, limitsWithin, poisonFields } from './batch.ts';
import { signatureOf } from './decoding/record-signature.ts';
import type { BatchPorts, Chunk, KafkaRecord, PoisonRecord } from './batch.ts';
import type { FlowWait } from './session/flow-wait.ts';
import type { WorkerObserver } from './observer.ts';
import type { UndecodableLimit } from './undecodable-limit.ts';

const POISON_LOG_WINDOW_MS = 10_000;

export interface RecordPublisherPorts extends BatchPorts {
  /** @throws BusUnavailableError, FencedError */
  readonly publish: (messages: readonly ChannelMessage[], upTo: Position) => Promise<void>;
  /** Resolves when the records are written to the dead-letter topic, or dropped. Rejects only when the signal is aborted. */
  readonly deadLetter: (poison: readonly PoisonRecord[], signal?: AbortSignal) => Promise<void>;
  /** Where they are written to, for the log; undefined: they are dropped. */
  readonly deadLetterTopic?: string;
  /** Delays records until the gateways have room for them. */
  readonly flow: Pick<FlowWait, 'room' | 'whenRoom'>;
  /** undefined: no topic is stopped. */
  readonly undecodable?: UndecodableLimit;
}

/** How the chunks of one partition are published. */
export interface PublishTerms {
  /** Called when the gateways have no room. False: the next chunk is not published now. */
  readonly mayWait: () => boolean;
  /** Ends the wait for room. */
  readonly flowSignal: AbortSignal | undefined;
  /** Poison records up to this offset were sent to the dead-letter topic before. */
  readonly handledUpTo?: number | undefined;
  /** Ends the writing of dead letters. */
  readonly endSignal?: AbortSignal;
}

export interface PublishedChunk {
  readonly chunk: Chunk;
  /** Settles as `deadLetter` does; undefined: the chunk has no new poison records. */
  readonly deadLettered: Promise<void> | undefined;
}

/** Publishes records on the bus: decodes and routes them, and publishes them in chunks. Needs no Kafka: the embedded mode uses it, too. */
export class RecordPublisher {
  readonly #ports: RecordPublisherPorts;
  readonly #observer: Pick<WorkerObserver, 'onConsumed' | 'onPublished' | 'onPoison'>;
  readonly #log: Logger;
  readonly #poisonLog = new LogWindow(POISON_LOG_WINDOW_MS);

  constructor(
    ports: RecordPublisherPorts,
    observer: Pick<WorkerObserver, 'onConsumed' | 'onPublished' | 'onPoison'>,
    log: Logger,
  ) {
    this.#ports = ports;
    this.#observer = observer;
    this.#log = log;
  }

  /** The records of one partition, in chunks that `publishNext` publishes. */
  chunker(records: Iterable<KafkaRecord>): Chunker {
    return new Chunker(records, this.#ports);
  }

  /**
   * Publishes the chunk that begins with `next`, which must not be undefined: waits for room at the gateways, decodes, publishes, and begins to
   * write dead letters. undefined: there is no room.
   * @throws TopicStoppedError: no retry helps; BusUnavailableError, FencedError, SchemaUnavailableError
   */
  async publishNext(
    chunks: Chunker,
    { mayWait, flowSignal, handledUpTo, endSignal }: PublishTerms,
  ): Promise<PublishedChunk | undefined> {
    const { topic, partition } = chunks.next()!;
    const { undecodable, flow } = this.#ports;
    undecodable?.check(topic);
    let room = flow.room(topic, partition);
    if (room === 0 && mayWait()) room = await flow.whenRoom(topic, partition, flowSignal);
    if (room === 0) return undefined;
    const chunk = await chunks.take(limitsWithin(room));
    await this.#publish(chunk);
    return { chunk, deadLettered: this.#rejectPoison(chunk, handledUpTo, endSignal) };
  }

  /** A chunk without messages is published, too: the bus keeps its position. */
  async #publish(chunk: Chunk): Promise<void> {
    const { messages, recordCount, recordBytes, last, spans, startedAt, decodeMs } = chunk;
    const { topic, partition, offset } = last;
    this.#ports.undecodable?.count(chunk);
    const from = performance.now();
    const publishing = spans && this.#ports.traces?.startPublish(topic, messages.length, spans);
    try {
      await this.#ports.publish(messages, { topic, partition, offset });
    } catch (error) {
      this.#ports.undecodable?.takeBack(chunk);
      publishing?.fail(failureOf(error));
      throw error;
    }
    publishing?.end();
    this.#observer.onPublished(messages, { startedAt, decodeMs, publishMs: performance.now() - from });
    this.#observer.onConsumed(topic, recordCount, recordBytes);
  }

  /** Counts and logs a chunk's poison records and sends them to the dead-letter topic, after its publish: one that is retried sends them once. */
  #rejectPoison({ poison }: Chunk, after = -1, signal?: AbortSignal): Promise<void> | undefined {
    const fresh = poison.filter(({ record }) => record.offset > after);
    if (fresh.length === 0) return undefined;
    for (const one of fresh) {
      const { record, reason } = one;
      this.#observer.onPoison(record.topic, reason);
      this.#poisonLog.run(reason, (suppressed) => {
        const bytes = record.value?.length ?? 0;
        const found = signatureOf(reason, record)?.found;
        const { deadLetterTopic } = this.#ports;
        const fix = deadLetterTopic === undefined ? 'without Kafka it is not kept' : 'crier dead-letters list shows it';
        const fields = { ...poisonFields(one), found, bytes, deadLetterTopic, suppressed };
        this.#log.warn(fields, `poison record not published; ${fix}`);
      });
    }
    return this.#ports.deadLetter(fresh, signal);
  }

  /**
   * Publishes the records of one partition without Kafka, in order. Ends early once the signal is aborted.
   * @throws BusUnavailableError, FencedError, SchemaUnavailableError; chunks before the error stand
   */
  async publish(records: Iterable<KafkaRecord>, signal?: AbortSignal): Promise<void> {
    const chunks = this.chunker(records);
    while (chunks.next()) {
      const published = await this.publishNext(chunks, { mayWait: () => true, flowSignal: signal });
      if (!published) return;
      await published.deadLettered;
    }
  }
}
