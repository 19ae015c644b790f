import { Command } from 'ioredis';
import { BusUnavailableError } from '../../base/errors.ts';
import { LogWindow } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';
import { describe, isReplyError } from './reply-error.ts';
import type { RedisLink } from './redis-link.ts';

const LOG_WINDOW_MS = 5_000;
/** In ms: interval at which SUBSCRIBE is repeated for channels that Redis refused and that still have listeners. */
const REFUSED_RETRY_MS = 2_000;
/** Channels per command. A connection storm becomes few commands, and Redis serves other clients between them. */
const MAX_CHANNELS_PER_COMMAND = 512;
/** In ms: interval at which channels are routed again that a node of a cluster did not have. */
const MOVED_RETRY_MS = 250;

/** Receives the bytes of a channel's message. They are not overwritten afterwards. Must not throw. */
export type Receiver = (message: Buffer) => void;

interface Channel {
  readonly name: string;
  receive: Receiver;
  /** After a reconnect, every other channel of the link is subscribed before it. */
  isLast: boolean;
  isWanted: boolean;
  /** To the server that has the channel; undefined: no such server is known. */
  link: RedisLink | undefined;
  /** SUBSCRIBE was written to the present link. */
  isSent: boolean;
  /** Redis acknowledged that SUBSCRIBE. */
  isLive: boolean;
  /** The calls of `acknowledged` that wait for `isLive`; they share one promise. */
  pending: { promise: Promise<void>; resolve(): void; reject(error: Error): void; timer: NodeJS.Timeout } | undefined;
}

export interface RedisSubscriberOptions {
  readonly log: Logger;
  /** Longest wait for an acknowledgement, in ms. */
  readonly acknowledgeTimeoutMs: number;
  /** These channels were lost with a link, or moved to another one, and are subscribed again. */
  readonly onGap: (channels: readonly string[]) => void;
  /** The link of a channel now; undefined: no server is known that has it. */
  readonly linkOf: (channel: string) => RedisLink | undefined;
  /** Set in a Redis Cluster: the hash tag of a channel. A command for sharded channels has channels of one tag. */
  readonly tagOf?: ((channel: string) => string) | undefined;
}

/**
 * The channels of one or several links, one receiver for each. `subscribe` and `unsubscribe` never fail; `acknowledged` reports the outcome.
 *
 * It keeps the set of wanted channels and sends Redis the changes once per event-loop turn, and a link's whole set after a reconnect.
 * Redis answers the commands of one link in order, so a channel that is unsubscribed and subscribed again ends as subscribed.
 *
 * A message is a slice of a larger buffer of redis-parser: of the chunk (64 KiB at most) that one read of the socket returned, or, if the
 * message spans chunks, of the parser's pool (about three times the size of such messages). Node.js allocates each chunk, and the parser
 * never reuses the bytes of its pool, so no message is overwritten later. A retained message retains its whole chunk or pool.
 */
export class RedisSubscriber {
  readonly #options: RedisSubscriberOptions;
  readonly #commands: { readonly subscribe: 'subscribe' | 'ssubscribe'; readonly unsubscribe: string };
  readonly #window = new LogWindow(LOG_WINDOW_MS);
  /** Wanted, or still to be unsubscribed in this turn. */
  readonly #channels = new Map<string, Channel>();
  readonly #changed = new Set<Channel>();
  /** Channels that were live on a lost link and whose gap is not reported yet. */
  readonly #lost = new Set<Channel>();
  /** Losses of each link: a reply applies only if no loss came after its command. */
  readonly #losses = new WeakMap<RedisLink, number>();
  #flushing: NodeJS.Immediate | undefined;
  #retrying: NodeJS.Timeout | undefined;

  constructor(options: RedisSubscriberOptions) {
    this.#options = options;
    const isSharded = options.tagOf !== undefined;
    this.#commands = isSharded
      ? { subscribe: 'ssubscribe', unsubscribe: 'sunsubscribe' }
      : { subscribe: 'subscribe', unsubscribe: 'unsubscribe' };
  }

  /** Takes the messages of a link. The owner calls `up` and `down` for it. */
  attach(link: RedisLink): void {
    // With a listener of `message` ioredis would decode every message.
    const event = this.#options.tagOf ? 'smessageBuffer' : 'messageBuffer';
    link.client.on(event, (name: Buffer, message: Buffer) => this.#onMessage(link, name.toString(), message));
  }

  /** Adds the channel, or replaces the receiver of a channel that is there already. */
  subscribe(name: string, receive: Receiver): void {
    let channel = this.#channels.get(name);
    if (!channel) {
      const link = this.#options.linkOf(name);
      const state = { isWanted: true, isLast: false, isSent: false, isLive: false, pending: undefined };
      channel = { name, receive, link, ...state };
      this.#channels.set(name, channel);
    }
    channel.receive = receive;
    channel.isWanted = true;
    this.#change(channel);
  }

  /** The same for a channel that is subscribed after all others at each reconnect. */
  subscribeLast(name: string, receive: Receiver): void {
    this.subscribe(name, receive);
    this.#channels.get(name)!.isLast = true;
  }

  /** Removes the channel. Its receiver is not called again. */
  unsubscribe(name: string): void {
    const channel = this.#channels.get(name);
    if (!channel) return;
    channel.isWanted = false;
    this.#lost.delete(channel);
    settle(channel, 'the channel was unsubscribed before Redis acknowledged it');
    if (channel.isSent) this.#change(channel);
    else this.#channels.delete(name);
  }

  /** True if the link of the channel is up. */
  canReach(name: string): boolean {
    return this.#options.linkOf(name)?.isUp === true;
  }

  isLive(name: string): boolean {
    return this.#channels.get(name)?.isLive === true;
  }

  /**
   * Resolves when Redis has acknowledged the wanted channel on the present link.
   * @throws BusUnavailableError when Redis refuses it or does not acknowledge it in time.
   */
  acknowledged(name: string): Promise<void> {
    const channel = this.#channels.get(name);
    if (!channel?.isWanted) return Promise.reject(new BusUnavailableError('the channel is not subscribed'));
    if (channel.isLive) return Promise.resolve();
    if (!channel.pending) {
      const { acknowledgeTimeoutMs } = this.#options;
      const { promise, resolve, reject } = deferred();
      const timer = setTimeout(
        () => settle(channel, `Redis did not acknowledge within ${acknowledgeTimeoutMs} ms`),
        acknowledgeTimeoutMs,
      );
      channel.pending = { promise, resolve, reject, timer };
    }
    return channel.pending.promise;
  }

  /** The link is up: subscribes its wanted channels. */
  up(link: RedisLink): void {
    for (const channel of this.#channels.values()) if (channel.link === link) this.#changed.add(channel);
    this.#flush();
  }

  /** The link is lost, and every subscription with it. */
  down(link: RedisLink): void {
    this.#losses.set(link, this.#lossesOf(link) + 1);
    for (const channel of this.#channels.values()) if (channel.link === link) this.#lose(channel);
  }

  /** The node has ended the subscription of a channel. It is subscribed again, also if the slot is back by then. */
  ended(link: RedisLink, name: string): void {
    const channel = this.#channels.get(name);
    if (channel?.link !== link) return;
    this.#lose(channel);
    this.#retryIn(MOVED_RETRY_MS);
  }

  /** Channels may have moved to other servers: subscribes them there. The server that had a channel has ended its subscription. */
  reroute(): void {
    for (const channel of this.#channels.values()) {
      const link = this.#options.linkOf(channel.name);
      if (link !== channel.link) {
        this.#lose(channel);
        channel.link = link;
      }
      this.#changed.add(channel);
    }
    this.#flush();
  }

  #lose(channel: Channel): void {
    if (!channel.isWanted) this.#channels.delete(channel.name);
    if (channel.isWanted && channel.isLive) this.#lost.add(channel);
    channel.isSent = false;
    channel.isLive = false;
  }

  #lossesOf(link: RedisLink): number {
    return this.#losses.get(link) ?? 0;
  }

  /** Rejects every pending `acknowledged`. The link is closed by its owner. */
  close(): void {
    clearImmediate(this.#flushing);
    clearTimeout(this.#retrying);
    for (const channel of this.#channels.values()) settle(channel, 'the bus is closed');
    this.#channels.clear();
    this.#changed.clear();
    this.#lost.clear();
  }

  #onMessage(link: RedisLink, name: string, message: Buffer): void {
    const channel = this.#channels.get(name);
    // A message before the acknowledgement belongs to an earlier subscription, which has ended.
    if (!channel?.isWanted || !channel.isLive || channel.link !== link) return;
    // A message may arrive with the acknowledgement, before the code that awaits it continues: report the gap first.
    if (this.#lost.size > 0) this.#reportGaps([channel]);
    channel.receive(message);
  }

  #change(channel: Channel): void {
    this.#changed.add(channel);
    this.#flushing ??= setImmediate(() => this.#flush());
  }

  #flush(): void {
    clearImmediate(this.#flushing);
    this.#flushing = undefined;
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const [link, channels] of groupBy(changed, ({ link }) => link)) if (link?.isUp) this.#send(link, channels);
  }

  #send(link: RedisLink, changed: readonly Channel[]): void {
    const leaving = changed.filter((channel) => !channel.isWanted && channel.isSent);
    for (const channel of leaving) this.#channels.delete(channel.name);
    for (const chunk of this.#chunks(leaving)) void this.#sendUnsubscribe(link, chunk);
    const joining = changed.filter((channel) => channel.isWanted && !channel.isSent);
    const last = joining.filter(({ isLast }) => isLast);
    const inOrder = [...joining.filter(({ isLast }) => !isLast), ...last];
    if (inOrder.length > 0) void this.#subscribeAll(link, inOrder);
  }

  /** What one command has. */
  #chunks(channels: readonly Channel[]): Channel[][] {
    const { tagOf } = this.#options;
    if (!tagOf) return chunksOf(channels);
    return [...groupBy(channels, ({ name }) => tagOf(name)).values()].flatMap(chunksOf);
  }

  async #sendUnsubscribe(link: RedisLink, channels: readonly Channel[]): Promise<void> {
    try {
      const names = channels.map((channel) => channel.name);
      await link.changeSubscriptions(new Command(this.#commands.unsubscribe, names));
    } catch (error) {
      // A lost link has no subscriptions left, and a node has ended those of a slot that it has no more.
      if (isReplyError(error) && !isMove(error)) this.#warn(link, 'unsubscribe', describe(error));
    }
  }

  async #subscribeAll(link: RedisLink, channels: readonly Channel[]): Promise<void> {
    await Promise.all(this.#chunks(channels).map((chunk) => this.#sendSubscribe(link, chunk)));
    this.#reportGaps(channels.filter(({ isLive }) => isLive));
  }

  #reportGaps(channels: readonly Channel[]): void {
    const restored = channels.filter((channel) => this.#lost.delete(channel));
    if (restored.length > 0) this.#options.onGap(restored.map(({ name }) => name));
  }

  async #sendSubscribe(link: RedisLink, channels: readonly Channel[]): Promise<void> {
    for (const channel of channels) channel.isSent = true;
    const losses = this.#lossesOf(link);
    const isCurrent = () => losses === this.#lossesOf(link);
    const command = new Command(
      this.#commands.subscribe,
      channels.map((channel) => channel.name),
    );
    beforeReply(command, () => {
      if (isCurrent()) for (const channel of channels) if (channel.link === link) channel.isLive = true;
    });
    try {
      await link.changeSubscriptions(command);
    } catch (error) {
      // A lost link rejects the command; `up` sends it again.
      if (isCurrent() && isReplyError(error)) await this.#refused(link, channels, error);
      return;
    }
    if (isCurrent()) for (const channel of channels) if (channel.link === link) settle(channel);
  }

  /** Redis refuses the whole command if an ACL forbids one of its channels. Subscribes them one by one to find that channel. */
  async #refused(link: RedisLink, channels: readonly Channel[], error: Error): Promise<void> {
    const isOfLink = (channel: Channel) => channel.isWanted && channel.link === link;
    const stillWanted = channels.filter(isOfLink);
    if (isMove(error)) {
      for (const channel of stillWanted) channel.isSent = false;
      link.failureOf(error);
      this.#retryIn(MOVED_RETRY_MS);
      return;
    }
    if (channels.length > 1) {
      await Promise.all(stillWanted.map((channel) => this.#sendSubscribe(link, [channel])));
      return;
    }
    const reason = `Redis at ${link.label} refused the channel: ${describe(error)}`;
    this.#warn(link, 'subscribe', reason);
    for (const channel of stillWanted) {
      channel.isSent = false;
      settle(channel, reason);
      this.#retryIn(REFUSED_RETRY_MS);
    }
  }

  #retryIn(ms: number): void {
    this.#retrying ??= setTimeout(() => {
      this.#retrying = undefined;
      this.reroute();
    }, ms);
  }

  #warn({ label }: RedisLink, key: string, reason: string): void {
    this.#window.run(key, (suppressed) =>
      this.#options.log.warn({ server: label, reason, suppressed }, 'Redis refused a subscription command'),
    );
  }
}

/**
 * Calls `act` as soon as the reply is parsed. The command's promise is too late: a message may follow the acknowledgement in the same
 * read of the socket, and ioredis emits it before code that awaits the command runs.
 */
function beforeReply(command: Command, act: () => void): void {
  const { resolve } = command;
  command.resolve = (reply) => {
    act();
    resolve(reply);
  };
}

/** Settles the pending `acknowledged` of the channel, if any: rejects with `reason`, or resolves without one. */
function settle(channel: Channel, reason?: string): void {
  const { pending } = channel;
  if (!pending) return;
  channel.pending = undefined;
  clearTimeout(pending.timer);
  if (reason !== undefined) pending.reject(new BusUnavailableError(reason));
  else pending.resolve();
}

function deferred() {
  let resolve!: () => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}

/** True if the node has the channel's slot no more, or not yet. */
function isMove(error: Error): boolean {
  return /^(?:MOVED|ASK|CLUSTERDOWN|TRYAGAIN) ?/.test(error.message);
}

function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

function chunksOf(channels: readonly Channel[]): Channel[][] {
  const result: Channel[][] = [];
  for (let i = 0; i < channels.length; i += MAX_CHANNELS_PER_COMMAND) {
    result.push(channels.slice(i, i + MAX_CHANNELS_PER_COMMAND));
  }
  return result;
}
