import { BusUnavailableError } from '../../base/errors.ts';
import type { Receiver } from '../flow/receiver.ts';
import { Sender } from '../flow/sender.ts';
import { LogWindow } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';
import type { Bus, BusObserver } from '../bus.ts';
import type { ChannelMessage } from '../bus-message.ts';
import type { Listener, Unsubscribe } from '../feed.ts';
import type { PartitionLease, Position, Skips } from '../publisher.ts';
import { isPlain } from '../channel.ts';
import type { Lock, LockRequest } from '../lock.ts';
import type { History, HistoryQuery } from '../history.ts';
import type { StateFills } from '../state-fill.ts';
import { ListenedChannels } from '../listened-channels.ts';
import type { Listeners } from '../listeners.ts';
import { RedisControl } from './redis-control.ts';
import { failureOf } from '../publish-failure.ts';
import { agreeOn, lockFor, lockOf } from './redis-agreement.ts';
import { RedisCluster } from './cluster/redis-cluster.ts';
import { OneServer } from './one-server.ts';
import { parseRedisUrl } from '../../config/addresses/redis-address.ts';
import { RedisFence } from './redis-fence.ts';
import { RedisFlow, countGateways } from './redis-flow.ts';
import { readHistory } from './redis-history.ts';
import { parseMessage } from './message-header.ts';
import { describe } from './reply-error.ts';
import type { RedisLink } from './redis-link.ts';
import { RedisPublisher } from './redis-publisher.ts';
import type { RedisServerOptions } from './redis-server.ts';
import { RedisStateFills } from './redis-state-fills.ts';
import type { RedisSubscriber } from './redis-subscriber.ts';
import type { RedisTag } from './redis-tag.ts';
import type { RedisTopology } from './redis-topology.ts';
import { ReturningGateways } from './returning-gateways.ts';

const LOG_WINDOW_MS = 5_000;

export interface RedisBusOptions extends RedisServerOptions {
  /** REDIS_URL: one server, Sentinels or a Redis Cluster. */
  readonly url: string;
  /** Longest wait of `subscribe` for the acknowledgement, in ms. Default 5,000. */
  readonly subscribeTimeoutMs?: number;
  /** Prefix of all keys and channels. Default ''. */
  readonly prefix?: string;
  /** A gateway without progress for this long, in ms, no longer limits what this process publishes. Default: no flow control. */
  readonly flowPatienceMs?: number | undefined;
}

/** Where a channel is subscribed. */
interface Route {
  readonly subscriber: RedisSubscriber;
  /** Of the channel in Redis. */
  readonly name: string;
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
  readonly #topology: RedisTopology;
  readonly #flow: RedisFlow;
  readonly #publisher: RedisPublisher;
  readonly #gateways: ReturningGateways;
  /** With those of which a listener waits for the acknowledgement. */
  readonly #channels: ListenedChannels;
  #status: 'idle' | 'started' | 'closed' = 'idle';
  #closing: Promise<void> | undefined;

  /** @throws ConfigError for a URL that cannot be used. Its message contains no credentials. */
  constructor(options: RedisBusOptions) {
    const { url, log, prefix = '', subscribeTimeoutMs = 5_000 } = options;
    this.#log = log;
    this.#observer = options.observer ?? {};
    this.#prefix = prefix;
    this.#channels = new ListenedChannels({
      log,
      onOpen: (channel, listeners) => this.#open(channel, listeners),
      onClose: (channel) => {
        const { subscriber, name } = this.#routeOf(channel);
        subscriber.unsubscribe(name);
      },
    });
    const onGap = (channels: readonly string[]) => this.#onGap(channels);
    const all = { ...options, prefix, subscribeTimeoutMs, onGap };
    const address = parseRedisUrl(url);
    this.#topology =
      address.kind === 'cluster' ? new RedisCluster({ ...all, address }) : new OneServer(address.target, all);
    const { tags, subscriber } = this.#topology;
    const ask = (topic: string, partition: number) => this.#publisher.ask(topic, partition);
    const seek = (gateway: string) => this.#flow.seek(gateway);
    const { flowPatienceMs: patienceMs } = options;
    this.#gateways = new ReturningGateways({ tags, patienceMs: patienceMs ?? 0, count: countGateways });
    const areGatewaysBack = (now: number) => {
      this.#gateways.recount(now);
      return this.#gateways.areBack(now);
    };
    const sender = (this.sender = new Sender({ patienceMs, ask, seek, areGatewaysBack }));
    const tagOf = (name: string) => this.#tagOf(name);
    const flow = (this.#flow = new RedisFlow({ tags, tagOf, subscriber, sender }));
    const fences = tags.map((tag) => new RedisFence(tag));
    this.#publisher = new RedisPublisher({ topology: this.#topology, fences, flow, sender });
    this.stateFills = new RedisStateFills(tags, fences);
    this.control = new RedisControl({ tag: this.#tagOf('control'), subscriber });
  }

  get isAvailable(): boolean {
    return this.awayServers.length === 0;
  }

  get awayServers(): readonly string[] {
    return this.#topology.awayServers;
  }

  /** Of a server there are two; a cluster has more, which come and go. */
  get links(): readonly Pick<RedisLink, 'label' | 'role' | 'isUp' | 'reconnects'>[] {
    return this.#topology.links;
  }

  async start(): Promise<void> {
    this.#assertNotClosed();
    this.#status = 'started';
    await this.#topology.start();
  }

  async publish(messages: readonly ChannelMessage[], upTo: Position): Promise<void> {
    try {
      this.#assertNotClosed();
      this.#assertGatewaysAreBack();
      await this.#publisher.publish(messages, upTo);
    } catch (error) {
      this.#observer.onPublishFailure?.(messages.length, this.#logFailure('a publish', error));
      throw error;
    }
    this.#observer.onPublish?.(messages.length);
  }

  receive(receiver: Receiver): () => void {
    let stop: (() => void) | undefined = this.#flow.receive(receiver);
    return () => {
      stop?.();
      stop = undefined;
    };
  }

  async acquire(lease: PartitionLease): Promise<Skips | undefined> {
    this.#assertNotClosed();
    try {
      return await this.#publisher.acquire(lease);
    } catch (error) {
      this.#observer.onPublishFailure?.(0, this.#logFailure('the lease of a partition', error));
      throw error;
    }
  }

  async subscribe(channel: string, listener: Listener, onGap?: () => void): Promise<Unsubscribe> {
    this.#assertNotClosed();
    if (this.#status === 'idle') throw new BusUnavailableError('the bus is not started');
    const unsubscribe = this.#channels.add(channel, listener, onGap);
    try {
      const { subscriber, name } = this.#routeOf(channel);
      await subscriber.acknowledged(name);
      this.#assertNotClosed();
    } catch (error) {
      unsubscribe();
      throw error;
    }
    return unsubscribe;
  }

  async send(channel: string, text: string): Promise<void> {
    this.#assertNotClosed();
    const { publisher } = this.#topology.plain;
    const { label, isUp, absence } = publisher;
    if (!isUp) throw new BusUnavailableError(`Redis at ${label} is unreachable`, { reason: absence });
    try {
      await publisher.client.publish(channel, text);
    } catch (error) {
      const message = `Redis at ${label} did not accept a message: ${describe(error as Error)}`;
      throw new BusUnavailableError(message, { reason: publisher.failureOf(error as Error) });
    }
  }

  async history(channel: string, query: HistoryQuery): Promise<History> {
    this.#assertNotClosed();
    return readHistory(this.#tagOf(channel), channel, query);
  }

  async agree(name: string, proposal: string): Promise<string> {
    this.#assertNotClosed();
    const { publisher, prefix } = this.#tagOf(name);
    return agreeOn(publisher, `${prefix}${name}`, proposal);
  }

  async lock(name: string, request: LockRequest): Promise<Lock> {
    this.#assertNotClosed();
    try {
      return await lockFor(this.#tagOf(name), name, request);
    } catch (error) {
      // Without its lock a worker leases nothing.
      this.#observer.onPublishFailure?.(0, this.#logFailure('the lock of a consumer group', error));
      throw error;
    }
  }

  async unlock(name: string, request: Omit<LockRequest, 'ttlMs'>): Promise<void> {
    this.#assertNotClosed();
    await lockFor(this.#tagOf(name), name, { ...request, ttlMs: 0 });
  }

  async lockOf(name: string): Promise<Lock | undefined> {
    this.#assertNotClosed();
    return lockOf(this.#tagOf(name), name);
  }

  close(): Promise<void> {
    this.#status = 'closed';
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    this.#channels.clear();
    this.sender.close();
    await this.#topology.close();
  }

  #tagOf(name: string): RedisTag {
    return this.#topology.tags[this.#topology.tagIndexOf(name)]!;
  }

  /** Other programs do not know the tags. */
  #routeOf(channel: string): Route {
    if (isPlain(channel, this.#prefix)) return { subscriber: this.#topology.plain.subscriber, name: channel };
    return { subscriber: this.#topology.subscriber, name: this.#tagOf(channel).name + channel };
  }

  #open(channel: string, listeners: Listeners): void {
    const { subscriber, name } = this.#routeOf(channel);
    const receive = (message: Buffer) => {
      const { payload, coordinates } = parseMessage(message);
      listeners.deliver(payload, coordinates);
    };
    // Other programs must not forge the header of messages.
    subscriber.subscribe(name, isPlain(channel, this.#prefix) ? (message) => listeners.deliver(message) : receive);
  }

  /** Only channels of listeners are reported: a control message is no event. */
  #onGap(channels: readonly string[]): void {
    this.control.onGap(channels);
    const ours = channels.filter((channel) => this.#channels.get(channel));
    if (ours.length > 0) this.#observer.onGap?.(ours);
    for (const channel of ours) this.#channels.get(channel)?.reportGap();
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

  /** The caller has asked for room, but Redis may have been away since. */
  #assertGatewaysAreBack(): void {
    if (!this.sender.isEnabled || this.#gateways.areBack(performance.now())) return;
    throw new BusUnavailableError('gateways have not subscribed again since Redis was away', { reason: 'away' });
  }

  #assertNotClosed(): void {
    if (this.#status === 'closed') throw new BusUnavailableError('the bus is closed', { reason: 'closed' });
  }
}
