import { AsyncResource } from 'node:async_hooks';
import { EventQueue } from './event-queue.ts';
import type { PubSub } from './pubsub.ts';
import type { Listening, TriggerChannels } from './trigger-channels.ts';

/** Triggers that one operation listens to at most; a trigger counts for each time. */
export const MAX_TRIGGERS = 100;

/** `context.pubsub` in the `subscribe` of a Subscription field. Everything that it opens ends with the operation. */
export class OperationPubSub implements PubSub {
  /** Called when the next event of the operation comes after a gap. */
  onGap: () => void = () => undefined;
  /** Called with each change of `waitingBytes`. */
  onBytes: (change: number) => void = () => undefined;
  readonly #channels: TriggerChannels;
  /** By id. */
  readonly #listenings = new Map<number, Listening>();
  readonly #queues = new Set<EventQueue>();
  #lastId = 0;
  #waitingBytes = 0;
  #isClosed = false;

  constructor(channels: TriggerChannels) {
    this.#channels = channels;
  }

  /** Bytes of the messages that wait for the operation. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  publish(trigger: string, payload: unknown): Promise<void> {
    return this.#channels.publish(trigger, payload);
  }

  async subscribe(trigger: string, onMessage: (payload: unknown) => void): Promise<number> {
    if (typeof onMessage !== 'function')
      throw new TypeError('context.pubsub.subscribe needs a function as its second argument');
    const onPayload = AsyncResource.bind((payload: unknown) => onMessage(payload));
    const id = this.#listen(trigger, { onPayload, onGap: () => this.onGap() });
    try {
      await this.#listenings.get(id)!.acknowledged;
    } catch (error) {
      this.unsubscribe(id);
      throw error;
    }
    return id;
  }

  unsubscribe(id: number): void {
    this.#listenings.get(id)?.stop();
    this.#listenings.delete(id);
  }

  asyncIterableIterator<T>(triggers: string | readonly string[]): AsyncIterableIterator<T> {
    const ids: number[] = [];
    const queue = new EventQueue(
      () => this.onGap(),
      () => {
        this.#queues.delete(queue);
        for (const id of ids) this.unsubscribe(id);
      },
      (change) => {
        this.#waitingBytes += change;
        this.onBytes(change);
      },
    );
    this.#queues.add(queue);
    try {
      for (const trigger of new Set(typeof triggers === 'string' ? [triggers] : triggers)) {
        const id = this.#listen(trigger, {
          onPayload: (payload, bytes) => queue.push(payload, bytes),
          onGap: () => queue.noteGap(),
        });
        ids.push(id);
        this.#listenings.get(id)!.acknowledged.catch((error: unknown) => queue.fail(error));
      }
    } catch (error) {
      queue.end();
      throw error;
    }
    return queue as AsyncIterableIterator<unknown> as AsyncIterableIterator<T>;
  }

  asyncIterator<T>(triggers: string | readonly string[]): AsyncIterableIterator<T> {
    return this.asyncIterableIterator<T>(triggers);
  }

  /** The operation has ended: iterators are done, also those that a generator of the graph waits for. Idempotent. */
  close(): void {
    this.#isClosed = true;
    for (const queue of this.#queues) queue.end();
    for (const id of this.#listenings.keys()) this.unsubscribe(id);
  }

  #listen(trigger: string, listener: Parameters<TriggerChannels['listen']>[1]): number {
    if (this.#isClosed) throw new Error('the operation has ended: its context.pubsub listens to nothing more');
    if (this.#listenings.size >= MAX_TRIGGERS) {
      throw new RangeError(`an operation may listen to ${MAX_TRIGGERS} triggers of context.pubsub at a time`);
    }
    const id = ++this.#lastId;
    this.#listenings.set(id, this.#channels.listen(trigger, listener));
    return id;
  }
}
