import type { ChannelMessage } from '../bus/bus-message.ts';
import type { Position } from '../bus/publisher.ts';
import { failureOf } from '../bus/publish-failure.ts';
import { LogWindow } from '../base/log.ts';
import type { Logger } from '../base/log.ts';
import { Chunker, limitsWithin } from './batch.ts';
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
  /** Delays records until the gateways have room for them. */
  readonly flow: Pick<FlowWait, 'room' | 'whenRoom'>;
  /** undefined: no topic is stopped. */
  readonly undecodable?: UndecodableLimit;
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

  /** The records of one partition, in chunks that the next three methods publish, in this order. */
  chunker(records: Iterable<KafkaRecord>): Chunker {
    return new Chunker(records, this.#ports);
  }

  /** Bytes that the gateways have room for now. @throws TopicStoppedError: no retry helps */
  room(topic: string, partition: number): number {
    this.#ports.undecodable?.check(topic);
    return this.#ports.flow.room(topic, partition);
  }

  /** Bytes that the gateways have room for, once they have any; 0: the signal has ended the wait. */
  whenRoom(topic: string, partition: number, signal: AbortSignal | undefined): Promise<number> {
    return this.#ports.flow.whenRoom(topic, partition, signal);
  }

  /**
   * Publishes a chunk. A chunk without messages is published, too: the bus keeps its position.
   * @throws BusUnavailableError, FencedError of the bus; TopicStoppedError
   */
  async publishChunk(chunk: Chunk): Promise<void> {
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

  /**
   * Counts and logs a chunk's poison records and sends them to the dead-letter topic, after the chunk is published: a publish that is retried does not send them
   * twice. Settles as `deadLetter` does; undefined: there are none.
   * @param after offset up to which poison records were sent before
   */
  rejectPoison({ poison }: Chunk, after = -1, signal?: AbortSignal): Promise<void> | undefined {
    const fresh = poison.filter(({ record }) => record.offset > after);
    if (fresh.length === 0) return undefined;
    for (const { record, reason } of fresh) {
      this.#observer.onPoison(record.topic, reason);
      this.#poisonLog.run(reason, (suppressed) => {
        const { topic, partition, value } = record;
        const offset = `${record.offset}`;
        const bytes = value?.length ?? 0;
        const found = signatureOf(reason, record)?.found;
        this.#log.warn({ topic, partition, offset, reason, found, bytes, suppressed }, 'poison record not published');
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
    for (let next; (next = chunks.next());) {
      const { topic, partition } = next;
      const room = this.room(topic, partition) || (await this.whenRoom(topic, partition, signal));
      if (room === 0) return;
      const chunk = await chunks.take(limitsWithin(room));
      await this.publishChunk(chunk);
      await this.rejectPoison(chunk);
    }
  }
}
