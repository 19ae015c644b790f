import type { Message, Position } from '../bus/bus.ts';
import { LogWindow } from '../log.ts';
import type { Logger } from '../log.ts';
import { CHUNK_LIMITS, chunksOf } from './batch.ts';
import type { BatchPorts, Chunk, KafkaRecord, LimitsOf, PoisonRecord } from './batch.ts';
import type { FlowWait } from './session/flow-wait.ts';
import type { WorkerObserver } from './observer.ts';

const POISON_LOG_WINDOW_MS = 10_000;

export interface WorkerPorts extends BatchPorts {
  /** @throws BusUnavailableError, FencedError */
  readonly publish: (messages: readonly Message[], upTo: Position) => Promise<void>;
  /** Resolves when the records are in the dead-letter topic, or given up. Rejects only when the signal is aborted. */
  readonly deadLetter: (poison: readonly PoisonRecord[], signal?: AbortSignal) => Promise<void>;
  /** Holds back what the gateways have no room for. */
  readonly flow: Pick<FlowWait, 'room'>;
}

/** A chunk that the bus has accepted. */
export interface PublishedChunk extends Pick<Chunk, 'last' | 'lastBeforePoison'> {
  /** The writing of its poison records; undefined: it has none. */
  readonly deadLettered: Promise<void> | undefined;
}

export interface ProcessOptions {
  /** Called once for each chunk, in order; false ends the processing there. Without it the writing of dead letters is waited for. */
  readonly onPublished?: (chunk: PublishedChunk) => Promise<boolean>;
  /** Called before each wait for the gateways; false ends the processing there. */
  readonly onLimited?: () => boolean;
  /** Ends the processing where it waits for the gateways. */
  readonly signal?: AbortSignal;
  /** Ends the writing of dead letters. */
  readonly deadLetterSignal?: AbortSignal;
}

/** Takes records to the bus. Knows no Kafka: the embedded mode feeds it, too. */
export class Worker {
  readonly #ports: WorkerPorts;
  readonly #observer: Pick<WorkerObserver, 'onConsumed' | 'onPublished' | 'onPoison'>;
  readonly #log: Logger;
  readonly #poisonLog = new LogWindow(POISON_LOG_WINDOW_MS);

  constructor(
    ports: WorkerPorts,
    observer: Pick<WorkerObserver, 'onConsumed' | 'onPublished' | 'onPoison'>,
    log: Logger,
  ) {
    this.#ports = ports;
    this.#observer = observer;
    this.#log = log;
  }

  /**
   * Publishes the records of one partition, in order, a chunk at a time. Each chunk waits until the gateways have room, and takes no
   * more bytes than that: the record that exceeds it is the last of the chunk. Poison records are dead-lettered after their chunk was
   * published: what is repeated because the bus was away is not dead-lettered twice.
   * Also a chunk without messages is published: the bus keeps the position.
   * @throws BusUnavailableError, FencedError of `publish`: what was reported as published stands, the rest is to be repeated.
   */
  async process(
    records: Iterable<KafkaRecord>,
    { onPublished = deadLetteredOf, onLimited, signal, deadLetterSignal }: ProcessOptions = {},
  ): Promise<void> {
    const limitsOf: LimitsOf = async ({ topic, partition }) => {
      const room = await this.#ports.flow.room(topic, partition, { onLimited, signal });
      return room > 0 ? { ...CHUNK_LIMITS, bytes: Math.min(room, CHUNK_LIMITS.bytes) } : undefined;
    };
    for await (const chunk of chunksOf(records, this.#ports, limitsOf)) {
      const { messages, poison, recordCount, last, lastBeforePoison } = chunk;
      const { topic, partition, offset } = last;
      await this.#ports.publish(messages, { topic, partition, offset: Number(offset) });
      this.#observer.onPublished(messages.length);
      const deadLettered = poison.length > 0 ? this.#putAside(poison, deadLetterSignal) : undefined;
      this.#observer.onConsumed(topic, recordCount);
      if (!(await onPublished({ last, lastBeforePoison, deadLettered }))) return;
    }
  }

  #putAside(poison: readonly PoisonRecord[], signal: AbortSignal | undefined): Promise<void> {
    for (const { record, reason } of poison) {
      this.#observer.onPoison(reason);
      this.#poisonLog.run(reason, (suppressed) => {
        const { topic, partition, offset, value } = record;
        const bytes = value?.length ?? 0;
        this.#log.warn({ topic, partition, offset, reason, bytes, suppressed }, 'poison record put aside');
      });
    }
    return this.#ports.deadLetter(poison, signal);
  }
}

async function deadLetteredOf({ deadLettered }: PublishedChunk): Promise<boolean> {
  await deadLettered;
  return true;
}
