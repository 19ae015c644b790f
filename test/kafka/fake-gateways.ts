import type { Room } from '../../src/bus/flow/room.ts';
import type { Sender } from '../../src/bus/flow/sender.ts';
import type { KafkaConsumerOptions } from '../../src/kafka/consumer.ts';

type Publish = KafkaConsumerOptions['publish'];

/** Room for partitions, which a test grants. */
export class FakeGateways implements Pick<Sender, 'room' | 'whenRoom'> {
  /** Of partitions that were granted nothing yet. */
  initial = 0;
  gateway: string | undefined = 'slow';
  /** Calls of whenRoom. */
  waits = 0;
  readonly #rooms = new Map<string, number>();
  readonly #waiting = new Map<string, Set<() => void>>();

  room(topic: string, partition: number): Room {
    return { bytes: Math.max(0, this.#roomOf(`${topic}/${partition}`)), gateway: this.gateway };
  }

  whenRoom(topic: string, partition: number, signal: AbortSignal): Promise<void> {
    this.waits++;
    const key = `${topic}/${partition}`;
    const waiting = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiting);
    return new Promise((resolve) => {
      const end = () => {
        waiting.delete(end);
        signal.removeEventListener('abort', end);
        resolve();
      };
      waiting.add(end);
      signal.addEventListener('abort', end);
      if (signal.aborted || this.#roomOf(key) > 0) end();
    });
  }

  /** How many wait for room for a partition. */
  waiting(topic: string, partition: number): number {
    return this.#waiting.get(`${topic}/${partition}`)?.size ?? 0;
  }

  grant(topic: string, partition: number, bytes: number): void {
    const key = `${topic}/${partition}`;
    this.#rooms.set(key, Math.max(0, this.#roomOf(key)) + bytes);
    if (this.#roomOf(key) > 0) for (const end of [...(this.#waiting.get(key) ?? [])]) end();
  }

  /** A publish port of which the messages that it accepts take the room of their partition. */
  before(publish: Publish): Publish {
    return async (messages, upTo) => {
      await publish(messages, upTo);
      const key = `${upTo.topic}/${upTo.partition}`;
      this.#rooms.set(key, this.#roomOf(key) - messages.reduce((sum, { payload }) => sum + payload.length, 0));
    };
  }

  #roomOf(key: string): number {
    return this.#rooms.get(key) ?? this.initial;
  }
}

export function unlimited(): FakeGateways {
  return Object.assign(new FakeGateways(), { initial: Infinity });
}
