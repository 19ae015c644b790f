import { Command } from 'ioredis';
import { BusUnavailableError } from '../../errors.ts';
import { LogWindow } from '../../log.ts';
import type { Logger } from '../../log.ts';
import { describe, isReplyError } from './redis-link.ts';
import type { RedisLink } from './redis-link.ts';

const LOG_WINDOW_MS = 5_000;
/** How often a channel that Redis refused, but that has listeners from before, is asked for again. */
const REFUSED_RETRY_MS = 2_000;
/** Channels per command: a storm is few commands, and Redis serves others between them. */
const MAX_CHANNELS_PER_COMMAND = 512;

/** Gets a message of a channel as it came; must not throw. Nobody writes to its bytes afterwards. */
export type Receiver = (message: Buffer) => void;

interface Channel {
  readonly name: string;
  receive: Receiver;
  isWanted: boolean;
  /** SUBSCRIBE was written to the present link. */
  isSent: boolean;
  /** Redis acknowledged that SUBSCRIBE. */
  isLive: boolean;
  /** Those who wait for `isLive`, together. */
  pending: { promise: Promise<void>; resolve(): void; reject(error: Error): void; timer: NodeJS.Timeout } | undefined;
}

export interface RedisSubscriberOptions {
  readonly log: Logger;
  /** Longest wait for an acknowledgement, in ms. */
  readonly acknowledgeTimeoutMs: number;
  /** These channels were lost with a link and are subscribed again. */
  readonly onGap: (channels: readonly string[]) => void;
}

/**
 * The channels of one link, one receiver for each. What is asked of it never fails at once; `acknowledged` tells the truth.
 *
 * It keeps the set of channels that are wanted and brings Redis in line with it: once per event-loop turn for what changed,
 * and for all of them when the link is back. Commands of one link are answered in order, so a channel that is left and
 * joined again ends as subscribed.
 *
 * Messages are passed on as redis-parser cuts them: as a part of the chunk (64 KiB at most) that came with one read of the socket, or, what
 * spans chunks, as a part of the parser's pool (about thrice as large as what spans chunks at a time). Node.js makes each chunk anew, and
 * the parser's pool only goes forward (it is left for a new one when it is full), so no message is overwritten later; but one that is
 * kept keeps all of its chunk or pool.
 */
export class RedisSubscriber {
  readonly #link: RedisLink;
  readonly #options: RedisSubscriberOptions;
  readonly #window = new LogWindow(LOG_WINDOW_MS);
  /** Wanted, or still to be unsubscribed in this turn. */
  readonly #channels = new Map<string, Channel>();
  readonly #changed = new Set<Channel>();
  /** Were live on a link that is lost, and nobody was told yet. */
  readonly #lost = new Set<Channel>();
  /** Counts losses of the link: an answer is only good for the link that was asked. */
  #losses = 0;
  #flushing: NodeJS.Immediate | undefined;
  #retrying: NodeJS.Timeout | undefined;

  constructor(link: RedisLink, options: RedisSubscriberOptions) {
    this.#link = link;
    this.#options = options;
    // With a listener of `message` ioredis would decode every message.
    link.client.on('messageBuffer', (name: Buffer, message: Buffer) => this.#onMessage(name.toString(), message));
  }

  /** Wants the channel. What of it was wanted before goes to this receiver from now on. */
  subscribe(name: string, receive: Receiver): void {
    let channel = this.#channels.get(name);
    if (!channel) {
      channel = { name, receive, isWanted: true, isSent: false, isLive: false, pending: undefined };
      this.#channels.set(name, channel);
    }
    channel.receive = receive;
    channel.isWanted = true;
    this.#change(channel);
  }

  /** Wants the channel no longer: its receiver is not called again. */
  unsubscribe(name: string): void {
    const channel = this.#channels.get(name);
    if (!channel) return;
    channel.isWanted = false;
    this.#lost.delete(channel);
    settle(channel, 'the channel was left before Redis acknowledged it');
    if (channel.isSent) this.#change(channel);
    else this.#channels.delete(name);
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

  /** The link answers: asks for everything that is wanted. */
  up(): void {
    for (const channel of this.#channels.values()) this.#changed.add(channel);
    this.#flush();
  }

  /** The link is lost, and every subscription with it. */
  down(): void {
    this.#losses++;
    for (const channel of this.#channels.values()) {
      if (!channel.isWanted) this.#channels.delete(channel.name);
      if (channel.isWanted && channel.isLive) this.#lost.add(channel);
      channel.isSent = false;
      channel.isLive = false;
    }
  }

  /** Whoever waits for an acknowledgement is refused. The link is closed by its owner. */
  close(): void {
    clearImmediate(this.#flushing);
    clearTimeout(this.#retrying);
    for (const channel of this.#channels.values()) settle(channel, 'the bus is closed');
    this.#channels.clear();
    this.#changed.clear();
    this.#lost.clear();
  }

  #onMessage(name: string, message: Buffer): void {
    const channel = this.#channels.get(name);
    // Before the acknowledgement come messages of an earlier subscription, which has ended.
    if (!channel?.isWanted || !channel.isLive) return;
    // It may come with the acknowledgement, before whoever awaits that goes on.
    if (this.#lost.size > 0) this.#tellGaps([channel]);
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
    if (!this.#link.isUp) return;
    const leaving = changed.filter((channel) => !channel.isWanted && channel.isSent);
    for (const channel of leaving) this.#channels.delete(channel.name);
    for (const chunk of chunks(leaving)) void this.#leave(chunk);
    const joining = changed.filter((channel) => channel.isWanted && !channel.isSent);
    if (joining.length > 0) void this.#joinAll(joining);
  }

  async #leave(channels: readonly Channel[]): Promise<void> {
    try {
      await this.#link.client.unsubscribe(...channels.map((channel) => channel.name));
    } catch (error) {
      // A link that is lost has left every channel.
      if (isReplyError(error)) this.#warn('unsubscribe', describe(error));
    }
  }

  async #joinAll(channels: readonly Channel[]): Promise<void> {
    await Promise.all(chunks(channels).map((chunk) => this.#join(chunk)));
    this.#tellGaps(channels.filter(({ isLive }) => isLive));
  }

  #tellGaps(channels: readonly Channel[]): void {
    const regained = channels.filter((channel) => this.#lost.delete(channel));
    if (regained.length > 0) this.#options.onGap(regained.map(({ name }) => name));
  }

  async #join(channels: readonly Channel[]): Promise<void> {
    for (const channel of channels) channel.isSent = true;
    const losses = this.#losses;
    const command = new Command(
      'subscribe',
      channels.map((channel) => channel.name),
    );
    beforeReply(command, () => {
      if (losses === this.#losses) for (const channel of channels) channel.isLive = true;
    });
    try {
      await this.#link.client.sendCommand(command);
    } catch (error) {
      // A link that is lost takes the command with it; `up` asks again.
      if (losses === this.#losses && isReplyError(error)) await this.#refused(channels, error);
      return;
    }
    if (losses === this.#losses) for (const channel of channels) settle(channel);
  }

  /** Redis refuses a command whole for one channel that the user may not read: find out which one. */
  async #refused(channels: readonly Channel[], error: Error): Promise<void> {
    const stillWanted = channels.filter((channel) => channel.isWanted);
    if (channels.length > 1) {
      await Promise.all(stillWanted.map((channel) => this.#join([channel])));
      return;
    }
    const reason = `Redis at ${this.#link.label} refused the channel: ${describe(error)}`;
    this.#warn('subscribe', reason);
    for (const channel of stillWanted) {
      channel.isSent = false;
      settle(channel, reason);
      this.#retryLater();
    }
  }

  #retryLater(): void {
    this.#retrying ??= setTimeout(() => {
      this.#retrying = undefined;
      this.up();
    }, REFUSED_RETRY_MS);
  }

  #warn(key: string, reason: string): void {
    this.#window.run(key, (suppressed) =>
      this.#options.log.warn({ server: this.#link.label, reason, suppressed }, 'Redis refused a subscription command'),
    );
  }
}

/**
 * Calls `act` when the reply is read. The promise of the command is settled too late for this: a message may follow the
 * acknowledgement in the same read of the socket, and ioredis emits it before anything that awaits the command runs.
 */
function beforeReply(command: Command, act: () => void): void {
  const { resolve } = command;
  command.resolve = (reply) => {
    act();
    resolve(reply);
  };
}

/** Tells those who wait for the channel, if any. `reason`: why they wait in vain. */
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

function chunks(channels: readonly Channel[]): Channel[][] {
  const result: Channel[][] = [];
  for (let i = 0; i < channels.length; i += MAX_CHANNELS_PER_COMMAND) {
    result.push(channels.slice(i, i + MAX_CHANNELS_PER_COMMAND));
  }
  return result;
}
