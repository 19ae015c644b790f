import { Redis } from 'ioredis';
import type { Command } from 'ioredis';
import { BusUnavailableError, ConfigError } from '../../base/errors.ts';
import { LogWindow } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';
import type { PublishFailure } from '../publish-failure.ts';
import { replyFailure } from '../publish-failure.ts';
import { limitReads } from '../read-limit.ts';
import { guardParser } from './guarded-parser.ts';
import type { RedisTarget } from '../../config/addresses/redis-address.ts';
import { ENVIRONMENT_NAMES } from '../../config/setting-names.ts';
import type { SettingNames } from '../../config/setting-names.ts';
import type { RedisAccess } from './redis-access.ts';
import { redisFix } from './redis-fix.ts';
import { describe, isReplyError } from './reply-error.ts';
import { RenewableClient } from './renewable-client.ts';
import { readPart } from './server-part.ts';
import type { ServerPart } from './server-part.ts';
import type { Divider } from './subscription-handover.ts';

const LOG_WINDOW_MS = 5_000;
/** Less than 2 s, the longest time in which a pod must reconnect to a Redis that runs again. */
const MAX_BACKOFF_MS = 1_000;
const DISCONNECT_TIMEOUT_MS = 500;
const CLOSE_TIMEOUT_MS = 1_000;
/** In ms: interval between PINGs while the server refuses them (LOADING: it reads its data). */
const REFUSED_PROBE_INTERVAL_MS = 250;
/** About as many bytes as the fan-out serves in one slice (10 ms), with events of 2 KB that have one subscriber each. */
const MAX_BYTES_PER_TURN = 256 * 1024;
const SENTINEL_TIMEOUT_MS = 2_000;
/** A link is dropped if bytes arrive and no reply to PING for this many times the silence timeout: a reply before it never ends. */
const DEAF_AFTER = 5;
/** What ioredis emits for a reply to no command. */
const QUEUE_ERROR = /^Command queue state error/;
/** The same for the end of a subscription, with its channel. */
const ENDED_SUBSCRIPTION = /Last reply: sunsubscribe,(.*),\d+$/s;
/** What ioredis emits when it has asked every Sentinel, although each has answered. */
const ROUND_OF_SENTINELS = /^All sentinels are unreachable\. Retrying from scratch after [\d.]+ms\.$/;
/** Refusals by a replica. */
const OF_REPLICA: ReadonlySet<PublishFailure> = new Set(['MASTERDOWN', 'READONLY']);
/** Refusals by a server that has lost its part: another one serves the slot, or is the primary. */
const MOVES: ReadonlySet<PublishFailure> = new Set([
  ...OF_REPLICA,
  'ASK',
  'CLUSTERDOWN',
  'CROSSSLOT',
  'MOVED',
  'TRYAGAIN',
]);

export interface RedisLinkOptions {
  readonly target: RedisTarget;
  /** Default: credentials and TLS as the URL says. */
  readonly access?: RedisAccess | undefined;
  readonly role: 'publisher' | 'subscriber';
  readonly log: Logger;
  /** A link is dropped if no byte arrives while a reply is due: after this long, in ms, at the latest, and not before half of it. */
  readonly silenceTimeoutMs: number;
  /** The server replies. Called again after each reconnect. */
  readonly onUp: (isReconnect: boolean) => void;
  /** The link is lost; everything in flight has been or is being rejected. */
  readonly onDown: () => void;
  /** Of a node of a Redis Cluster: its slots have moved, or a failover has begun. undefined: the server must not be such a node. */
  readonly onMoved?: (() => void) | undefined;
  /** Of a server that is no such node: it is a replica, although it may deliver. The owner drops its links, so that the next ones lead to the primary. */
  readonly onReplica?: (() => void) | undefined;
  /** Of a subscriber of a Redis Cluster: the node has ended the subscription of a channel, whose slot it has lost. */
  readonly onEnded?: (channel: string) => void;
  /** Of a subscriber: see `Mark`. undefined: it cannot be had now. */
  readonly createMark?: () => Divider | undefined;
}

/**
 * One connection to one Redis; it reconnects whenever it is lost. No offline queue: commands in flight at a disconnect, or issued while
 * disconnected, are rejected (with a non-`ReplyError`), and the owner decides which to repeat. The link is up when Redis has answered a
 * PING, which needs no more rights than `+ping` (no INFO, no CLIENT), and reports neither cluster mode nor that it is a replica.
 */
export class RedisLink {
  /** `host:port`, or the name of a primary that Sentinels know: safe to log. */
  readonly label: string;
  readonly #options: RedisLinkOptions;
  readonly #window = new LogWindow(LOG_WINDOW_MS);
  #status: 'idle' | 'started' | 'closed' = 'idle';
  #isUp = false;
  /** How Redis refused the link since it was up last. */
  #refusal: PublishFailure | undefined;
  #reconnects = 0;
  #wasUp = false;
  readonly #names: SettingNames;
  /** The present attempt has logged why it failed. */
  #isTold = false;
  #failedAttempts = 0;
  #watchdog: NodeJS.Timeout | undefined;
  #probingAgain: NodeJS.Timeout | undefined;
  /** The socket that was probed last, and the bytes it had received by then. */
  #probed: { readonly stream: Redis['stream']; readonly bytesRead: number } | undefined;
  /** Since when a reply to PING is due, of performance.now(); undefined: none is. */
  #dueSince: number | undefined;
  #starting: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  readonly #connection: RenewableClient;
  #onFirstOutcome: (refusal?: ConfigError) => void = () => undefined;
  /** Why commands in flight at the last loss failed. */
  #loss: PublishFailure = 'connection_lost';

  constructor(options: RedisLinkOptions) {
    this.#options = options;
    const { access, log, createMark, target } = options;
    this.label = target.label;
    this.#names = access?.names ?? ENVIRONMENT_NAMES;
    const onAdopt = (client: Redis) => this.#adopt(client);
    const create = () => this.#create();
    this.#connection = new RenewableClient({ label: target.label, create, access, log, onAdopt, createMark });
  }

  #create(): Redis {
    const { target, silenceTimeoutMs } = this.#options;
    const client = new Redis({
      ...target.options,
      lazyConnect: true,
      connectTimeout: silenceTimeoutMs,
      disconnectTimeout: DISCONNECT_TIMEOUT_MS,
      keepAlive: 10_000,
      retryStrategy: () => this.#backoffMs(),
      // 0 rejects the commands in flight at each loss. With any other number they stay pending when the first reconnect succeeds, and
      // resending them repeats a PUBLISH, or mistakes the replies of another SUBSCRIBE for their own.
      maxRetriesPerRequest: 0,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      autoResubscribe: false,
      // The check sends INFO, and prints to the console if an ACL forbids it.
      enableReadyCheck: false,
      disableClientInfo: true,
      // Without a number, ioredis gives up once it has asked every Sentinel. A silent one is passed over.
      sentinelRetryStrategy: () => this.#backoffMs(),
      sentinelCommandTimeout: Math.min(SENTINEL_TIMEOUT_MS, silenceTimeoutMs),
    });
    return guardParser(client).on('connect', () => limitReads(client.stream, MAX_BYTES_PER_TURN));
  }

  #adopt(client: Redis): void {
    client.on('error', (error: Error) => {
      if (QUEUE_ERROR.test(error.message)) return this.#onUnexpectedReply(error);
      this.#onFirstOutcome();
      if (ROUND_OF_SENTINELS.test(error.message)) return;
      this.#refusal = isReplyError(error) ? replyFailure(error.message) : undefined;
      this.#warn('error', describe(error));
    });
    client.on('ready', () => {
      this.#loss = 'connection_lost';
      this.#dueSince = undefined;
      this.#watchdog?.refresh();
      this.#probe();
    });
    client.on('close', () => this.#lost());
  }

  /** Another one after user or password have changed. */
  get client(): Redis {
    return this.#connection.client;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  get role(): RedisLinkOptions['role'] {
    return this.#options.role;
  }

  get target(): RedisTarget {
    return this.#options.target;
  }

  /** How often it was up again after it was lost. */
  get reconnects(): number {
    return this.#reconnects;
  }

  /** Why the link is not up. */
  get absence(): PublishFailure {
    return this.#refusal ?? 'away';
  }

  /**
   * Resolves with the first answer or the first failure. Idempotent.
   * @throws ConfigError when the server is a node of a Redis Cluster
   */
  start(): Promise<void> {
    if (this.#status === 'closed') return Promise.reject(new BusUnavailableError('the bus is closed'));
    this.#status = 'started';
    this.#starting ??= new Promise((resolve, reject) => {
      this.#onFirstOutcome = (refusal) => (refusal ? reject(refusal) : resolve());
      this.#watchdog = setInterval(() => this.#watch(), this.#options.silenceTimeoutMs / 2);
      // The events `close` and `error` report a failure, and the client retries by itself.
      this.client.connect().catch(() => undefined);
    });
    return this.#starting;
  }

  close(): Promise<void> {
    this.#status = 'closed';
    clearInterval(this.#watchdog);
    clearTimeout(this.#probingAgain);
    this.#connection.close();
    this.#closing ??= this.#disconnect();
    return this.#closing;
  }

  async #disconnect(): Promise<void> {
    this.#onFirstOutcome();
    const { client } = this;
    if (client.status === 'end') return;
    let timer: NodeJS.Timeout | undefined;
    const ended = new Promise<void>((resolve) => {
      client.once('end', resolve);
      timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
    });
    // Between two attempts disconnect() only stops ioredis's timer, and no `end` follows.
    const isBetweenAttempts = client.status === 'reconnecting';
    client.disconnect();
    if (!isBetweenAttempts) await ended;
    clearTimeout(timer);
  }

  #backoffMs(): number {
    const longest = Math.min(50 * 2 ** this.#failedAttempts++, MAX_BACKOFF_MS);
    return longest * (0.5 + Math.random() / 2);
  }

  /**
   * A half-open link or a frozen server emits no event, and ioredis waits for ever (https://github.com/redis/ioredis/issues/1451).
   */
  #watch(): void {
    if (this.client.status !== 'ready') return;
    if (!this.#isSilent() && !this.#isDeaf()) {
      this.#probe();
      return;
    }
    // After a blocked event loop, timers run before input: check again once the socket has been read.
    setImmediate(() => {
      const { silenceTimeoutMs } = this.#options;
      if (this.#isSilent()) this.drop(`no answer within ${silenceTimeoutMs} ms`, 'timeout');
      else if (this.#isDeaf()) this.drop(`a reply does not end within ${DEAF_AFTER * silenceTimeoutMs} ms`, 'timeout');
    });
  }

  #isSilent(): boolean {
    const { stream } = this.client;
    return this.#probed?.stream === stream && this.#probed.bytesRead === stream.bytesRead;
  }

  #isDeaf(): boolean {
    return performance.now() - (this.#dueSince ?? Infinity) > DEAF_AFTER * this.#options.silenceTimeoutMs;
  }

  #probe(): void {
    if (this.#status !== 'started' || this.client.status !== 'ready') return;
    const { stream } = this.client;
    this.#probed = { stream, bytesRead: stream.bytesRead };
    this.#dueSince ??= performance.now();
    // A server at maxclients replies to the first command only, with the reason.
    const pong = this.client.ping();
    const part = this.#isToldPart ? readPart(this.client) : Promise.resolve('primary' as const);
    Promise.all([part, pong]).then(
      // A refused AUTH closes the socket, but the reply to PING may follow the refusal at once: Redis serves it as the default user.
      ([isPart]) => setImmediate(() => this.#answered(stream, isPart)),
      (error: Error) => {
        if (isReplyError(error)) this.#onRefusal(error);
        this.#onFirstOutcome();
      },
    );
  }

  /** A client that has subscribed may not ask, and the map of its cluster says what a node is. */
  get #isToldPart(): boolean {
    const { onMoved, role } = this.#options;
    return onMoved === undefined && (role === 'publisher' || !this.#isUp);
  }

  #onRefusal(error: Error): void {
    this.#dueSince = undefined;
    // After a refused password, Redis refuses the PING, too.
    if (this.#refusal !== 'WRONGPASS') this.#refusal = replyFailure(error.message);
    this.#warn('probe', describe(error));
    if (this.#isUp || this.#status !== 'started') return;
    clearTimeout(this.#probingAgain);
    this.#probingAgain = setTimeout(() => this.#probe(), REFUSED_PROBE_INTERVAL_MS);
  }

  #onCluster(): void {
    const reason = 'it is a node of a Redis Cluster';
    this.#warn('cluster', reason);
    const fix = 'write redis+cluster:// (rediss+cluster:// for TLS) before the hosts';
    this.#onFirstOutcome(
      new ConfigError(`${this.#names.REDIS_URL}: ${this.label} cannot be used so: ${reason}; ${fix}`),
    );
  }

  #answered(stream: Redis['stream'], part: ServerPart): void {
    this.#dueSince = undefined;
    const isCurrent = stream === this.client.stream && this.client.status === 'ready' && stream.writable;
    if (this.#status !== 'started' || !isCurrent) return;
    if (part === 'replica') return this.#onReplica();
    if (this.#isUp) return;
    if (part === 'node') return this.#onCluster();
    this.#isUp = true;
    this.#refusal = undefined;
    this.#failedAttempts = 0;
    const isReconnect = this.#wasUp;
    if (isReconnect) this.#reconnects++;
    this.#wasUp = true;
    this.#window.run('up', (suppressed) =>
      this.#options.log.info(
        { server: this.label, link: this.#options.role, suppressed },
        'the connection to Redis is up',
      ),
    );
    this.#options.onUp(isReconnect);
    this.#onFirstOutcome();
  }

  /**
   * Drops the connection and reconnects. It destroys the socket, because `disconnect` waits for the server to close its side, and the
   * server would meanwhile accept more of the commands that the owner repeats.
   */
  drop(reason: string, loss: PublishFailure = 'connection_lost'): void {
    // The other link of the server may have learned it.
    if (OF_REPLICA.has(loss)) this.#refusal = loss;
    if (this.client.status !== 'ready') return;
    this.#loss = loss;
    this.#warn('dropped', reason);
    this.client.stream.destroy();
  }

  /** Sends a command that changes subscriptions. */
  changeSubscriptions(command: Command): Promise<unknown> {
    return this.#connection.changeSubscriptions(command);
  }

  /** The server does not accept what is written, and what is published on it reaches only its own subscribers. */
  #onReplica(): void {
    this.#refusal = 'READONLY';
    this.#options.onReplica?.();
    this.#onFirstOutcome();
  }

  /** Why a command of this link failed. After a refusal because another server has this one's part, the owner looks for that server. */
  failureOf(error: Error): PublishFailure {
    if (!isReplyError(error)) return this.#loss;
    const failure = replyFailure(error.message);
    if (MOVES.has(failure)) this.#onMoved(failure);
    return failure;
  }

  #onMoved(failure: PublishFailure): void {
    const { onMoved } = this.#options;
    if (onMoved) onMoved();
    else if (OF_REPLICA.has(failure)) this.#onReplica();
  }

  /**
   * A node that loses a slot ends the subscriptions of its channels, with replies that no command has asked for. ioredis counts one as the
   * reply to a command in flight, if there is any; then the last of these commands has a reply too many, which leads here.
   */
  #onUnexpectedReply(error: Error): void {
    const { onEnded, onMoved } = this.#options;
    const channel = ENDED_SUBSCRIPTION.exec(error.message)?.[1];
    if (channel === undefined) this.drop('a reply belongs to no command');
    else onEnded?.(channel);
    onMoved?.();
  }

  #lost(): void {
    if (this.#isUp) {
      this.#isUp = false;
      if (this.#status === 'started') this.#warn('lost', 'connection closed');
      this.#options.onDown();
    } else if (this.#status === 'started' && !this.#isTold) {
      this.#warn('closed', 'the connection was closed before Redis had answered');
    }
    this.#isTold = false;
    this.#onFirstOutcome();
  }

  #warn(key: string, reason: string): void {
    const { log, role, target } = this.#options;
    this.#isTold = true;
    const fix = redisFix(reason, target.options.tls !== undefined, this.#names);
    const first =
      fix === '' ? `. Check ${this.#names.REDIS_URL}, and that Redis runs; crier check says more` : `; ${fix}`;
    this.#window.run(key, (suppressed) =>
      log.warn(
        { server: this.label, link: role, reason, suppressed },
        `the connection to Redis failed; connecting again${this.#wasUp ? '' : first}`,
      ),
    );
  }
}
