import type { Bus } from '../../src/bus/bus.ts';
import type { ChannelMessage } from '../../src/bus/bus-message.ts';
import { FencedError } from '../../src/base/errors.ts';
import { randomName } from './services.ts';

/** Publishes for one partition as a worker does: under its lease, with the next offsets. */
export class PartitionPublisher {
  readonly #bus: Bus;
  readonly #topic: string;
  readonly #partition: number;
  #next = 0;
  /** Offset up to which the bus has accepted everything. */
  #accepted = -1;
  #lease: Promise<void> | undefined;
  #isLeased = false;

  constructor(bus: Bus, topic: string, partition: number) {
    this.#bus = bus;
    this.#topic = topic;
    this.#partition = partition;
  }

  /** Acquires the lease, unless it is held. Later publishes reach the bus in the same turn. */
  lease(): Promise<void> {
    const lease = { topic: this.#topic, partition: this.#partition, position: this.#accepted };
    this.#lease ??= this.#bus.acquire(lease).then(
      () => void (this.#isLeased = true),
      (error: unknown) => {
        this.#lease = undefined;
        throw error;
      },
    );
    return this.#lease;
  }

  /** @throws BusUnavailableError; a repeated publish has new offsets, so its messages may be delivered twice */
  async publish(texts: readonly Pick<ChannelMessage, 'channel' | 'payload'>[]): Promise<void> {
    const leased = this.#isLeased ? undefined : this.lease();
    const messages = texts.map((text) => ({ ...text, offset: this.#next++, timestamp: 0 }));
    const position = { topic: this.#topic, partition: this.#partition, offset: this.#next - 1 };
    if (leased) await leased;
    try {
      await this.#bus.publish(messages, position);
    } catch (error) {
      // Redis has restarted without its data.
      if (!(error instanceof FencedError)) throw error;
      this.#lease = undefined;
      this.#isLeased = false;
      await this.lease();
      await this.#bus.publish(messages, position);
    }
    this.#accepted = position.offset;
  }
}

const publishers = new WeakMap<Bus, PartitionPublisher>();

/** The publisher of a bus. The first call decides its partition. */
export function publisherOf(bus: Bus, topic = randomName('topic'), partition = 0): PartitionPublisher {
  const publisher = publishers.get(bus) ?? new PartitionPublisher(bus, topic, partition);
  publishers.set(bus, publisher);
  return publisher;
}
