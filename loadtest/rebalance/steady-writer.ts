import { setTimeout as delay } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import type { Producer } from 'kafkajs';

export interface SteadyWriterOptions {
  readonly brokers: string;
  readonly topic: string;
  readonly partitions: number;
  /** Records a second for each partition. */
  readonly rate: number;
}

/** Writes a record to every partition of a topic in equal intervals. */
export class SteadyWriter {
  readonly #options: SteadyWriterOptions;
  readonly #producer: Producer;
  #isOn = true;
  #writing: Promise<void> | undefined;

  constructor(options: SteadyWriterOptions) {
    this.#options = options;
    const kafka = new kafkajs.Kafka({
      clientId: 'crier-loadtest',
      brokers: options.brokers.split(','),
      logLevel: kafkajs.logLevel.NOTHING,
    });
    this.#producer = kafka.producer({ maxInFlightRequests: 1, idempotent: true });
  }

  async start(): Promise<void> {
    await this.#producer.connect();
    this.#writing = this.#write();
    // `close` reports it.
    this.#writing.catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#isOn = false;
    await this.#writing;
    await this.#producer.disconnect();
  }

  async #write(): Promise<void> {
    const { topic, partitions, rate } = this.#options;
    for (let n = 0, dueAt = performance.now(); this.#isOn; n++, dueAt += 1000 / rate) {
      await delay(Math.max(0, dueAt - performance.now()));
      const messages = Array.from({ length: partitions }, (_, partition) => ({ partition, value: `{"n":${n}}` }));
      await this.#producer.send({ topic, messages });
    }
  }
}
