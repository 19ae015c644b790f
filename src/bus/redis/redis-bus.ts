import { BusUnavailableError, ConfigError } from '../../errors.ts';
import type { Receiver } from '../../flow/receiver.ts';
import { Sender } from '../../flow/sender.ts';
import { LogWindow } from '../../log.ts';
import type { Logger } from '../../log.ts';
import { STATES_OF_KEY } from '../bus.ts';
import type { Bus, BusObserver, Listener, Message, PartitionLease, Position, Unsubscribe } from '../bus.ts';
import { channelLabel, isPlain } from '../channel.ts';
import { parseMessage } from '../coordinates.ts';
import type { History, HistoryQuery } from '../history.ts';
import type { StateFills } from '../state-fill.ts';
import { Listeners } from '../listeners.ts';
import { RedisControl } from './redis-control.ts';
import { failureOf } from '../publish-failure.ts';
import { readHistory } from './redis-history.ts';
import { describe } from './redis-link.ts';
import type { RedisLink } from './redis-link.ts';
import { RedisServer } from './redis-server.ts';
import type { RedisServerOptions } from './redis-server.ts';
import { RedisStateFills } from './redis-state-fills.ts';
import { agreeOn } from './redis-agreement.ts';
import { fnv1a, ownerOf } from '../rendezvous.ts';

const LOG_WINDOW_MS = 5_000;

export interface RedisBusOptions extends Omit<RedisServerOptions, 'prefix' | 'onGap'> {
  /** One or several servers; a channel's server depends on the hash of its name. Every pod must use the same host names and ports. */
  readonly urls: readonly string[];
  /** Prefix of all keys and channels. Default ''. */
  readonly prefix?: string;
  /** A gateway without progress for this long, in ms, no longer limits what this process publishes. Default: no flow control. */
  readonly flowPatienceMs?: number | undefined;
}

interface Subscription {
  readonly server: RedisServer;
  /** Includes listeners that wait for the acknowledgement. The channel is unsubscribed when the last one is removed. */
  readonly listeners: Listeners;
}

/** The bus over Redis pub/sub. */
export class RedisBus implements Bus {
  readonly sender: Sender;
  readonly control: RedisControl;
  readonly stateFills: StateFills;
  readonly #log: Logger;
  readonly #observer: BusObserver;
  readonly #window = new LogWindow(LOG_WINDOW_MS);
  readonly #prefix: string;
  readonly #servers: readonly RedisServer[];
  readonly #serverHashes: readonly number[];
  /** By channel. The entry is removed with the channel's last listener. */
  readonly #subscriptions = new Map<string, Subscription>();
  #status: 'idle' | 'started' | 'closed' = 'idle';
  #closing: Promise<void> | undefined;

  /** @throws ConfigError for a URL that cannot be used. Its message contains no credentials. */
  constructor(options: RedisBusOptions) {
    this.#log = options.log;
    this.#observer = options.observer ?? {};
    this.#prefix = options.prefix ?? '';
    checkUrls(options.urls);
    this.sender = new Sender({
      patienceMs: options.flowPatienceMs,
      ask: (topic, partition) => {
        for (const { fence } of this.#servers) fence.ask(topic, partition);
      },
    });
    this.#servers = options.urls.map(
      (url) =>
        new RedisServer(url, this.sender, {
          ...options,
          prefix: this.#prefix,
          onGap: (channels) => this.#onGap(channels),
        }),
    );
    const labels = this.#servers.map((server) => server.publisher.label);
    if (new Set(labels).size < labels.length) {
      throw new ConfigError(`REDIS_URL: expected different servers, got one twice among ${labels.join(', ')}`);
    }
    this.#serverHashes = labels.map(fnv1a);
    this.stateFills = new RedisStateFills(this.#servers, this.#prefix);
    this.control = new RedisControl({ ...this.#serverOf(`${this.#prefix}control`), prefix: this.#prefix });
  }

  get isAvailable(): boolean {
    return this.awayServers.length === 0;
  }

  get awayServers(): readonly string[] {
    return this.#servers.flatMap(({ publisher, subscriberLink }) =>
      publisher.isUp && subscriberLink.isUp ? [] : [publisher.label],
    );
  }

  /** Two for each server. */
  get links(): readonly Pick<RedisLink, 'label' | 'role' | 'isUp' | 'reconnects'>[] {
    return this.#servers.flatMap(({ publisher, subscriberLink }) => [publisher, subscriberLink]);
  }

  async start(): Promise<void> {
    this.#assertNotClosed();
    this.#status = 'started';
    await Promise.all(this.#servers.map((server) => server.connect()));
    if (this.#status === 'started') for (const { probe } of this.#servers) probe.start();
  }

  async publish(messages: readonly Message[], upTo: Position): Promise<void> {
    try {
      this.#assertNotClosed();
      const shares = this.#spread(messages);
      // Every server keeps the position, so that each can detect that it has lost data.
      await allSettled(this.#servers.map((server) => server.fence.publish(shares.get(server) ?? [], upTo)));
    } catch (error) {
      this.#observer.onPublishFailure?.(messages.length, this.#logFailure('a publish', error));
      throw error;
    }
    this.#observer.onPublish?.(messages.length);
  }

  receive(receiver: Receiver): () => void {
    const stops = this.#servers.map(({ flow }) => flow.receive(receiver));
    return () => {
      for (const stop of stops.splice(0)) stop();
    };
  }

  async acquire(lease: PartitionLease): Promise<void> {
    this.#assertNotClosed();
    try {
      await allSettled(this.#servers.map(({ fence }) => fence.acquire(lease)));
    } catch (error) {
      this.#observer.onPublishFailure?.(0, this.#logFailure('the lease of a partition', error));
      throw error;
    }
  }

  async subscribe(channel: string, listener: Listener, onGap?: () => void): Promise<Unsubscribe> {
    this.#assertNotClosed();
    if (this.#status === 'idle') throw new BusUnavailableError('the bus is not started');
    const subscription = this.#subscriptions.get(channel) ?? this.#open(channel);
    const unsubscribe = subscription.listeners.add({ listener, onGap }, () => this.#release(channel, subscription));
    try {
      await subscription.server.subscriber.acknowledged(channel);
      this.#assertNotClosed();
    } catch (error) {
      unsubscribe();
      throw error;
    }
    return unsubscribe;
  }

  async send(channel: string, text: string): Promise<void> {
    this.#assertNotClosed();
    const { client, isUp, label, absence } = this.#servers[0]!.publisher;
    if (!isUp) throw new BusUnavailableError(`Redis at ${label} is unreachable`, { reason: absence });
    try {
      await client.publish(channel, text);
    } catch (error) {
      throw new BusUnavailableError(`Redis at ${label} did not accept a message: ${describe(error as Error)}`);
    }
  }

  async history(channel: string, query: HistoryQuery): Promise<History> {
    this.#assertNotClosed();
    return readHistory(this.#serverOf(channel).publisher, this.#prefix, channel, query);
  }

  async agree(name: string, proposal: string): Promise<string> {
    this.#assertNotClosed();
    const key = `${this.#prefix}${name}`;
    return agreeOn(this.#serverOf(key).publisher, key, proposal);
  }

  close(): Promise<void> {
    this.#status = 'closed';
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    for (const { listeners } of this.#subscriptions.values()) listeners.clear();
    this.#subscriptions.clear();
    this.#observer.onSubscriptions?.(0);
    this.sender.close();
    await Promise.all(this.#servers.map((server) => server.close()));
  }

  /** The messages by server, in order. */
  #spread(messages: readonly Message[]): Map<RedisServer, readonly Message[]> {
    if (this.#servers.length === 1) return new Map([[this.#servers[0]!, messages]]);
    const shares = new Map<RedisServer, Message[]>();
    for (const message of messages) {
      const servers = message.channel === STATES_OF_KEY ? this.#servers : [this.#serverOf(message.channel)];
      for (const server of servers) {
        const share = shares.get(server);
        if (share) share.push(message);
        else shares.set(server, [message]);
      }
    }
    return shares;
  }

  #serverOf(channel: string): RedisServer {
    return this.#servers[ownerOf(channel, this.#serverHashes)]!;
  }

  #open(channel: string): Subscription {
    // Other programs know neither the hash of names nor the header of messages, and must not forge one.
    const isOfAnyProgram = isPlain(channel, this.#prefix);
    const server = isOfAnyProgram ? this.#servers[0]! : this.#serverOf(channel);
    const listeners = new Listeners((error) => this.#logThrow(channel, error));
    const subscription: Subscription = { server, listeners };
    const receive = (message: Buffer) => {
      const { payload, coordinates } = parseMessage(message);
      listeners.deliver(payload, coordinates);
    };
    server.subscriber.subscribe(channel, isOfAnyProgram ? (message) => listeners.deliver(message) : receive);
    this.#subscriptions.set(channel, subscription);
    this.#observer.onSubscriptions?.(this.#subscriptions.size);
    return subscription;
  }

  /** Only channels of listeners are reported: a control message is no event. */
  #onGap(channels: readonly string[]): void {
    this.control.onGap(channels);
    const ours = channels.filter((channel) => this.#subscriptions.has(channel));
    if (ours.length > 0) this.#observer.onGap?.(ours);
    for (const channel of ours) this.#subscriptions.get(channel)?.listeners.reportGap();
  }

  #release(channel: string, subscription: Subscription): void {
    if (subscription.listeners.size > 0 || this.#subscriptions.get(channel) !== subscription) return;
    this.#subscriptions.delete(channel);
    this.#observer.onSubscriptions?.(this.#subscriptions.size);
    subscription.server.subscriber.unsubscribe(channel);
  }

  /** Logs the reason of a failure and returns it. */
  #logFailure(what: string, error: unknown): string {
    const reason = failureOf(error);
    this.#window.run(`${what} ${reason}`, (suppressed) =>
      this.#log.warn(
        { reason, err: { message: (error as Error).message }, suppressed },
        `Redis did not accept ${what}`,
      ),
    );
    return reason;
  }

  #logThrow(channel: string, error: unknown): void {
    this.#window.run('listener', (suppressed) =>
      this.#log.error({ err: error, channel: channelLabel(channel), suppressed }, 'a listener of a channel threw'),
    );
  }

  #assertNotClosed(): void {
    if (this.#status === 'closed') throw new BusUnavailableError('the bus is closed', { reason: 'closed' });
  }
}

/** Rejects with the first rejection once all have settled: a retry must not overlap with commands in flight. */
async function allSettled(promises: readonly Promise<void>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(promises)) if (outcome.status === 'rejected') throw outcome.reason;
}

function checkUrls(urls: readonly string[]): void {
  if (urls.length === 0) throw new ConfigError('REDIS_URL: expected at least one redis:// URL, got none');
  urls.forEach((url, i) => {
    if (/^rediss?:\/\/./.test(url) && URL.canParse(url)) {
      if (!new URL(url).searchParams.has('keyPrefix')) return;
      throw new ConfigError(
        `REDIS_URL: number ${i + 1} has a keyPrefix, which does not apply to channels; use CHANNEL_PREFIX instead`,
      );
    }
    throw new ConfigError(
      `REDIS_URL: expected redis:// or rediss:// URLs, number ${i + 1} is none (it is not shown: it may hold a password)`,
    );
  });
}
