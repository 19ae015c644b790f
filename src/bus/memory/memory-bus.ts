import { setImmediate as nextTurn } from 'node:timers/promises';
import { BusUnavailableError, FencedError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Bus, BusObserver } from '../bus.ts';
import type { ChannelMessage } from '../bus-message.ts';
import { topicOf } from '../channel.ts';
import type { Lock, LockRequest } from '../lock.ts';
import type { Listener, Unsubscribe } from '../feed.ts';
import type { Receiver } from '../flow/receiver.ts';
import { Sender } from '../flow/sender.ts';
import type { History, HistoryQuery } from '../history.ts';
import { ListenedChannels } from '../listened-channels.ts';
import { failureOf } from '../publish-failure.ts';
import type { PartitionLease, Position } from '../publisher.ts';
import { MemoryControl } from './memory-control.ts';
import { MemoryHistory } from './memory-history.ts';
import type { Delivery } from './memory-history.ts';
import { MemoryTopics } from './memory-topics.ts';

/** Messages that are accepted and not delivered yet; further messages are refused. */
const MAX_PENDING_MESSAGES = 100_000;

export interface MemoryBusOptions {
  /** Prefix of all channels. Default ''. */
  readonly prefix?: string;
  readonly log: Logger;
  readonly observer?: BusObserver;
  /** See `RedisBusOptions`. */
  readonly flowPatienceMs?: number | undefined;
}

/** The bus of the embedded mode: one process, no server. It delivers in a later turn of the event loop, as a network does. */
export class MemoryBus implements Bus {
  readonly awayServers: readonly string[] = [];
  readonly control = new MemoryControl(this);
  readonly stateFills = new MemoryTopics();
  readonly sender: Sender;
  readonly #options: MemoryBusOptions;
  readonly #channels: ListenedChannels;
  readonly #history = new MemoryHistory();
  /** Agreed values, by name. */
  readonly #agreed = new Map<string, string>();
  readonly #closed = Promise.resolve();
  #receiver: Receiver | undefined;
  /** Messages that are accepted and not delivered yet. */
  #pending = 0;
  #status: 'not started' | 'started' | 'closed' = 'not started';

  constructor(options: MemoryBusOptions) {
    const { log, flowPatienceMs: patienceMs } = options;
    this.#options = options;
    this.#channels = new ListenedChannels({ log });
    this.sender = new Sender({ patienceMs, ask: (topic, partition) => this.#mark(topic, partition, true) });
  }

  get isAvailable(): boolean {
    return this.#status === 'started';
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- the contract is a promise, also of what is thrown
  async start(): Promise<void> {
    if (this.#status === 'closed') this.#assertStarted();
    this.#status = 'started';
  }

  /** Resolves when the messages are delivered, so a publisher that awaits it cannot outrun the listeners. */
  async publish(messages: readonly ChannelMessage[], upTo: Position): Promise<void> {
    const { observer } = this.#options;
    this.#pending += messages.length;
    try {
      this.#assertStarted();
      if (this.#pending > MAX_PENDING_MESSAGES) {
        throw new BusUnavailableError(`more than ${MAX_PENDING_MESSAGES} messages would wait for delivery`);
      }
      const accepted = this.#accept(messages, upTo);
      await nextTurn();
      this.#assertStarted();
      this.#deliver(accepted, upTo);
      observer?.onPublish?.(messages.length);
    } catch (error) {
      observer?.onPublishFailure?.(messages.length, failureOf(error));
      throw error;
    } finally {
      this.#pending -= messages.length;
    }
  }

  receive(receiver: Receiver): () => void {
    this.#receiver = receiver;
    return () => {
      this.#receiver = undefined;
      for (const credit of receiver.finalCredits()) this.sender.onCredit(credit);
    };
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- the contract is a promise, also of what is thrown
  async acquire(lease: PartitionLease): Promise<undefined> {
    this.#assertStarted();
    this.sender.open(lease.topic, lease.partition, this.stateFills.acquire(lease).stream);
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- the contract is a promise, also of what is thrown
  async subscribe(channel: string, listener: Listener, onGap?: () => void): Promise<Unsubscribe> {
    this.#assertStarted();
    return this.#channels.add(channel, listener, onGap);
  }

  /** Resolves when the message is delivered, so a publisher that awaits it cannot outrun the listeners. */
  async send(channel: string, text: string): Promise<void> {
    this.#assertStarted();
    await nextTurn();
    this.#channels.get(channel)?.deliver(Buffer.from(text));
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- the contract is a promise, also of what is thrown
  async history(channel: string, query: HistoryQuery): Promise<History> {
    this.#assertStarted();
    const epoch = this.stateFills.epochOf(topicOf(channel, this.#options.prefix ?? ''));
    return { epoch, entries: this.#history.read(channel, query) };
  }

  /** The only process of this bus. */
  lock(_name: string, { holder, since = Date.now() }: LockRequest): Promise<Lock> {
    return Promise.resolve({ holder, since });
  }

  unlock(): Promise<void> {
    return Promise.resolve();
  }

  lockOf(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  agree(name: string, proposal: string): Promise<string> {
    const agreed = this.#agreed.get(name) ?? proposal;
    this.#agreed.set(name, agreed);
    return Promise.resolve(agreed);
  }

  close(): Promise<void> {
    this.#status = 'closed';
    this.sender.close();
    this.#channels.clear();
    return this.#closed;
  }

  #accept(messages: readonly ChannelMessage[], { topic, partition, offset }: Position): Delivery[] {
    const leased = this.stateFills.partitionOf(topic, partition);
    if (!leased) throw new FencedError(`${topic}/${partition} was not leased`);
    const { position } = leased;
    leased.position = Math.max(position, offset);
    const epoch = this.stateFills.epochOf(topic);
    const fresh = messages.filter((message) => message.offset > position);
    return fresh.flatMap((message) => this.#history.accept(message, partition, epoch));
  }

  #deliver(deliveries: readonly Delivery[], { topic, partition }: Position): void {
    const stream = this.stateFills.partitionOf(topic, partition)!.stream;
    let bytes = 0;
    for (const { channel, payload, coordinates } of deliveries) {
      const listeners = this.#channels.get(channel);
      listeners?.deliver(payload, coordinates);
      if (listeners) bytes += payload.length;
    }
    if (bytes === 0 || !this.sender.isEnabled) return;
    this.sender.add(stream, bytes);
    this.#mark(topic, partition, false);
  }

  /** Sends a mark of the partition to the gateway in this process. */
  #mark(topic: string, partition: number, isQuestion: boolean): void {
    const stream = this.stateFills.partitionOf(topic, partition)?.stream ?? '';
    const bytes = this.sender.published(stream);
    const credit = this.#receiver?.onMark({ topic, partition, stream, bytes, isQuestion });
    if (credit) this.sender.onCredit(credit);
  }

  #assertStarted(): void {
    if (this.#status !== 'started') throw new BusUnavailableError(`the bus is ${this.#status}`);
  }
}
