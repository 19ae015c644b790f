import { setImmediate as nextTurn } from 'node:timers/promises';
import { BusUnavailableError } from '../../base/errors.ts';
import type { Receiver } from '../flow/receiver.ts';
import { Sender } from '../flow/sender.ts';
import { LogWindow } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';
import type { Bus, BusObserver } from '../bus.ts';
import type { Message } from '../bus-message.ts';
import type { Listener, Unsubscribe } from '../feed.ts';
import type { PartitionLease, Position } from '../publisher.ts';
import { channelLabel, topicOf } from '../channel.ts';
import type { Claim, ClaimRequest } from '../claim.ts';
import type { Coordinates } from '../coordinates.ts';
import type { History, HistoryQuery } from '../history.ts';
import { Listeners } from '../listeners.ts';
import { MemoryControl } from './memory-control.ts';
import { MemoryFence } from './memory-fence.ts';
import { MemoryHistory } from './memory-history.ts';
import { MemoryStateFills } from './memory-state-fills.ts';
import { fillOfStart } from '../state-fill.ts';
import { failureOf } from '../publish-failure.ts';

const LOG_WINDOW_MS = 5_000;

export interface MemoryBusOptions {
  /** Prefix of all channels. Default ''. */
  readonly prefix?: string;
  readonly log: Logger;
  readonly observer?: BusObserver;
  /** Most messages that are accepted and not delivered yet; further messages are refused. Default 100,000. */
  readonly maxPendingMessages?: number;
  /** See `RedisBusOptions`. */
  readonly flowPatienceMs?: number | undefined;
}

interface Pending {
  readonly channel: string;
  readonly payload: Buffer;
  readonly coordinates: Coordinates;
}

/** The bus of the embedded mode: one process, no server. It delivers in a later turn of the event loop, as a network does. */
export class MemoryBus implements Bus {
  readonly sender: Sender;
  readonly control = new MemoryControl(() => this.#assertStarted());
  readonly #log: Logger;
  readonly #observer: BusObserver;
  readonly #maxPendingMessages: number;
  readonly #window = new LogWindow(LOG_WINDOW_MS);
  /** By channel. The entry is removed with the channel's last listener. */
  readonly #channels = new Map<string, Listeners>();
  readonly #prefix: string;
  readonly #fence = new MemoryFence();
  readonly stateFills = new MemoryStateFills((topic) => this.#fence.epochOf(topic));
  readonly #history = new MemoryHistory();
  /** Agreed values, by name. */
  readonly #agreed = new Map<string, string>();
  #receiver: Receiver | undefined;
  /** Names of the current leases' streams, by partition. */
  readonly #streams = new Map<string, string>();
  #leases = 0;
  #pending: Pending[] = [];
  /** Settles when a later turn of the event loop has delivered the pending messages. */
  #turn: Promise<void> | undefined;
  #status: 'idle' | 'started' | 'closed' = 'idle';
  #closing: Promise<void> | undefined;

  constructor(options: MemoryBusOptions) {
    this.#prefix = options.prefix ?? '';
    this.#log = options.log;
    this.#observer = options.observer ?? {};
    this.#maxPendingMessages = options.maxPendingMessages ?? 100_000;
    this.sender = new Sender({
      patienceMs: options.flowPatienceMs,
      ask: (topic, partition) => this.#mark(topic, partition, true),
    });
  }

  get isAvailable(): boolean {
    return this.#status === 'started';
  }

  get awayServers(): readonly string[] {
    return [];
  }

  start(): Promise<void> {
    if (this.#status === 'closed') return Promise.reject(new BusUnavailableError('the bus is closed'));
    this.#status = 'started';
    return Promise.resolve();
  }

  /** Resolves when the messages are delivered, so a publisher that awaits it cannot outrun the listeners. */
  async publish(messages: readonly Message[], upTo: Position): Promise<void> {
    try {
      this.#assertStarted();
      if (this.#pending.length + messages.length > this.#maxPendingMessages) {
        throw new BusUnavailableError(`more than ${this.#maxPendingMessages} messages would wait for delivery`);
      }
      for (const [message, coordinates] of this.#fence.accept(messages, upTo)) {
        for (const one of this.#history.messagesOf(message, Date.now())) {
          this.#pending.push(this.#pendingOf(one, coordinates));
        }
      }
      this.#turn ??= new Promise((resolve) => setImmediate(() => resolve(this.#deliver())));
      await this.#turn;
      this.#assertStarted();
    } catch (error) {
      this.#observer.onPublishFailure?.(messages.length, failureOf(error));
      throw error;
    }
    this.#observer.onPublish?.(messages.length);
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
    this.#fence.acquire(lease);
    const { topic, partition } = lease;
    const fill = fillOfStart(lease.startId);
    if (fill) this.stateFills.begin(topic, partition, fill);
    const stream = `${topic}/${partition}.${++this.#leases}`;
    this.#streams.set(`${topic}/${partition}`, stream);
    this.sender.open(topic, partition, stream);
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- the contract is a promise, also of what is thrown
  async subscribe(channel: string, listener: Listener, onGap?: () => void): Promise<Unsubscribe> {
    this.#assertStarted();
    const listeners = this.#channels.get(channel) ?? this.#open(channel);
    return listeners.add({ listener, onGap }, () => {
      if (listeners.size > 0) return;
      this.#channels.delete(channel);
      this.#observer.onSubscriptions?.(this.#channels.size);
    });
  }

  /** Resolves when the message is delivered, so a publisher that awaits it cannot outrun the listeners. */
  async send(channel: string, text: string): Promise<void> {
    this.#assertStarted();
    const payload = Buffer.from(text);
    await nextTurn();
    this.#channels.get(channel)?.deliver(payload);
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- the contract is a promise, also of what is thrown
  async history(channel: string, query: HistoryQuery): Promise<History> {
    this.#assertStarted();
    const epoch = this.#fence.epochOf(topicOf(channel, this.#prefix));
    return this.#history.read(channel, query, epoch, Date.now());
  }

  /** The only process of this bus. */
  claim(_name: string, { holder, since = Date.now() }: ClaimRequest): Promise<Claim> {
    return Promise.resolve({ holder, since });
  }

  claimOf(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  agree(name: string, proposal: string): Promise<string> {
    const agreed = this.#agreed.get(name) ?? proposal;
    this.#agreed.set(name, agreed);
    return Promise.resolve(agreed);
  }

  close(): Promise<void> {
    this.#closing ??= Promise.resolve(this.#closeNow());
    return this.#closing;
  }

  #closeNow(): void {
    this.#status = 'closed';
    this.sender.close();
    this.control.close();
    this.#pending = [];
    for (const listeners of this.#channels.values()) listeners.clear();
    this.#channels.clear();
    this.#observer.onSubscriptions?.(0);
  }

  #pendingOf({ channel, payload: text, history, trace, record, keyHash }: Message, position: Coordinates): Pending {
    const payload = Buffer.from(text);
    const coordinates = record === undefined ? position : { ...position, record };
    const isKept = history !== undefined && (history.entries > 0 || history.stateSeconds !== undefined);
    const named = isKept ? this.#history.add(channel, payload, coordinates, history, keyHash, Date.now()) : coordinates;
    return { channel, payload, coordinates: trace ? { ...named, trace } : named };
  }

  #deliver(): void {
    this.#turn = undefined;
    const messages = this.#pending;
    this.#pending = [];
    const published = new Map<string, [topic: string, partition: number]>();
    for (const { channel, payload, coordinates } of messages) {
      const listeners = this.#channels.get(channel);
      if (!listeners) continue;
      listeners.deliver(payload, coordinates);
      if (!this.sender.isEnabled) continue;
      const topic = topicOf(channel, this.#prefix);
      const stream = this.#streams.get(`${topic}/${coordinates.partition}`);
      if (stream === undefined) continue;
      this.sender.add(stream, payload.length);
      published.set(stream, [topic, coordinates.partition]);
    }
    for (const [topic, partition] of published.values()) this.#mark(topic, partition, false);
  }

  /** Sends a mark of the partition to the gateway in this process. */
  #mark(topic: string, partition: number, isQuestion: boolean): void {
    const stream = this.#streams.get(`${topic}/${partition}`) ?? '';
    const bytes = this.sender.published(stream);
    const credit = this.#receiver?.onMark({ topic, partition, stream, bytes, isQuestion });
    if (credit) this.sender.onCredit(credit);
  }

  #open(channel: string): Listeners {
    const listeners = new Listeners((error) =>
      this.#window.run('listener', (suppressed) =>
        this.#log.error({ err: error, channel: channelLabel(channel), suppressed }, 'a listener of a channel threw'),
      ),
    );
    this.#channels.set(channel, listeners);
    this.#observer.onSubscriptions?.(this.#channels.size);
    return listeners;
  }

  #assertStarted(): void {
    if (this.#status !== 'started')
      throw new BusUnavailableError(`the bus is ${this.#status === 'idle' ? 'not started' : 'closed'}`);
  }
}
