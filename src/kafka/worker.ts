import type { Message, Position } from '../bus/bus.ts';
import { LogWindow } from '../log.ts';
import type { Logger } from '../log.ts';
import { chunksOf } from './batch.ts';
import type { BatchPorts, KafkaRecord, PoisonRecord } from './batch.ts';
import type { WorkerObserver } from './observer.ts';

const POISON_LOG_WINDOW_MS = 10_000;

export interface WorkerPorts extends BatchPorts {
  /** @throws BusUnavailableError, FencedError */
  readonly publish: (messages: readonly Message[], upTo: Position) => Promise<void>;
  /** Puts poison records aside. Never rejects: a bad record stops nobody. */
  readonly deadLetter: (poison: readonly PoisonRecord[]) => Promise<void>;
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
   * Publishes the records of one partition, in order, a chunk at a time. `onAccepted` is called when everything up to and
   * including `last` was accepted (published, or dead-lettered); with false it ends the processing there.
   * Also a chunk without messages is published: the bus keeps the position.
   * @throws BusUnavailableError, FencedError of `publish`: what was reported as accepted stands, the rest is to be repeated.
   */
  async process(
    records: Iterable<KafkaRecord>,
    onAccepted: (last: KafkaRecord) => Promise<boolean> = goOn,
  ): Promise<void> {
    for (const { messages, poison, recordCount, last } of chunksOf(records, this.#ports)) {
      const { topic, partition, offset } = last;
      await this.#ports.publish(messages, { topic, partition, offset: Number(offset) });
      this.#observer.onPublished(messages.length);
      if (poison.length > 0) await this.#putAside(poison);
      this.#observer.onConsumed(topic, recordCount);
      if (!(await onAccepted(last))) return;
    }
  }

  async #putAside(poison: readonly PoisonRecord[]): Promise<void> {
    for (const { record, reason } of poison) {
      this.#observer.onPoison(reason);
      this.#poisonLog.run(reason, (suppressed) => {
        const { topic, partition, offset, value } = record;
        const bytes = value?.length ?? 0;
        this.#log.warn({ topic, partition, offset, reason, bytes, suppressed }, 'poison record put aside');
      });
    }
    await this.#ports.deadLetter(poison);
  }
}

function goOn(): Promise<boolean> {
  return Promise.resolve(true);
}
