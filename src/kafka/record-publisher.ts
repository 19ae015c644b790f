import type { Message } from '../bus/bus-message.ts';
import type { Position } from '../bus/publisher.ts';
import { failureOf } from '../bus/publish-failure.ts';
import { LogWindow } from '../base/log.ts';
import type { Logger } from '../base/log.ts';
import { CHUNK_LIMITS, chunksOf } from './batch.ts';
import { signatureOf } from './decoding/record-signature.ts';
import type { BatchPorts, Chunk, KafkaRecord, LimitsOf, PoisonRecord } from './batch.ts';
import type { FlowWait } from './session/flow-wait.ts';
import type { WorkerObserver } from './observer.ts';
import type { UndecodableLimit } from './undecodable-limit.ts';

const POISON_LOG_WINDOW_MS = 10_000;

export interface RecordPublisherPorts extends BatchPorts {
  /** @throws BusUnavailableError, FencedError */
  readonly publish: (messages: readonly Message[], upTo: Position) => Promise<void>;
  /** Resolves when the records are written to the dead-letter topic, or dropped. Rejects only when the signal is aborted. */
  readonly deadLetter: (poison: readonly PoisonRecord[], signal?: AbortSignal) => Promise<void>;
  /** Delays records until the gateways have room for them. */
  readonly flow: Pick<FlowWait, 'room'>;
  /** undefined: no topic is stopped. */
  readonly undecodable?: UndecodableLimit;
}

/** A chunk that the bus has accepted. */
export interface PublishedChunk extends Pick<Chunk, 'last' | 'lastBeforePoison'> {
  /** Settles when its poison records are written to the dead-letter topic; undefined: it has none. */
  readonly deadLettered: Promise<void> | undefined;
}

export interface PublishOptions {
  /** Called once per chunk, in order; resolving with false stops the publishing. Default: wait until its dead letters are written. */
  readonly onPublished?: (chunk: PublishedChunk) => Promise<boolean>;
  /** Called before each wait for the gateways; returning false stops the publishing. */
  readonly onLimited?: () => boolean;
  /** Ends a wait for the gateways, and the publishing with it. */
  readonly signal?: AbortSignal;
  /** Offset up to which poison records were dead-lettered before, so that none is twice. */
  readonly deadLetterAfter?: number;
  /** Ends the writing of dead letters. */
  readonly deadLetterSignal?: AbortSignal;
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

  /**
   * Publishes the records of one partition, in order, one chunk at a time. Each chunk waits until the gateways have room, and ends with
   * the record that exceeds it. A chunk without messages is published, too: the bus keeps its position. Poison records are
   * dead-lettered after their chunk is published: a publish that is retried does not dead-letter them twice.
   * @throws BusUnavailableError, FencedError of `publish`, SchemaUnavailableError; chunks reported to `onPublished` stand, the caller retries
   * the others. TopicStoppedError: no retry helps.
   */
  async publish(
    records: Iterable<KafkaRecord>,
    { onPublished = deadLetteredOf, onLimited, signal, deadLetterAfter = -1, deadLetterSignal }: PublishOptions = {},
  ): Promise<void> {
    let startedAt = 0;
    let decodingSince = 0;
    const limitsOf: LimitsOf = async ({ topic, partition }) => {
      this.#ports.undecodable?.check(topic);
      const room = await this.#ports.flow.room(topic, partition, { onLimited, signal });
      startedAt = Date.now();
      decodingSince = performance.now();
      return room > 0 ? { ...CHUNK_LIMITS, bytes: Math.min(room, CHUNK_LIMITS.bytes) } : undefined;
    };
    for await (const chunk of chunksOf(records, this.#ports, limitsOf)) {
      const { messages, poison, recordCount, recordBytes, last, lastBeforePoison, spans } = chunk;
      const { topic, partition, offset } = last;
      this.#ports.undecodable?.count(chunk);
      const decodedAt = performance.now();
      const publishing = spans && this.#ports.traces?.startPublish(topic, messages.length, spans);
      try {
        await this.#ports.publish(messages, { topic, partition, offset: Number(offset) });
      } catch (error) {
        this.#ports.undecodable?.takeBack(chunk);
        publishing?.fail(failureOf(error));
        throw error;
      }
      publishing?.end();
      const publishMs = performance.now() - decodedAt;
      this.#observer.onPublished(messages, { startedAt, decodeMs: decodedAt - decodingSince, publishMs });
      const fresh = poison.filter(({ record }) => Number(record.offset) > deadLetterAfter);
      const deadLettered = fresh.length > 0 ? this.#sendToDeadLetterTopic(fresh, deadLetterSignal) : undefined;
      this.#observer.onConsumed(topic, recordCount, recordBytes);
      if (!(await onPublished({ last, lastBeforePoison, deadLettered }))) return;
    }
  }

  #sendToDeadLetterTopic(poison: readonly PoisonRecord[], signal: AbortSignal | undefined): Promise<void> {
    for (const { record, reason } of poison) {
      this.#observer.onPoison(record.topic, reason);
      this.#poisonLog.run(reason, (suppressed) => {
        const { topic, partition, offset, value } = record;
        const bytes = value?.length ?? 0;
        const found = signatureOf(reason, record)?.found;
        this.#log.warn({ topic, partition, offset, reason, found, bytes, suppressed }, 'poison record not published');
      });
    }
    return this.#ports.deadLetter(poison, signal);
  }
}

async function deadLetteredOf({ deadLettered }: PublishedChunk): Promise<boolean> {
  await deadLettered;
  return true;
}
