import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Command, Redis } from 'ioredis';
import type { Logger } from '../../base/log.ts';
import { replyFailure } from '../publish-failure.ts';
import type { RedisAccess } from './redis-access.ts';
import { handOver } from './subscription-handover.ts';
import type { Divider } from './subscription-handover.ts';

export interface RenewableClientOptions {
  /** Of its server, for the log. */
  readonly label: string;
  /** Makes a client that is not connected. */
  readonly create: () => Redis;
  /** Default: user and password as `create` sets them. */
  readonly access: RedisAccess | undefined;
  readonly log: Logger;
  /** Called with the first client, and with each that replaces one: from now on its events count. */
  readonly onAdopt: (client: Redis) => void;
  /** Of a client that subscribes; undefined: it does not. */
  readonly createMark: (() => Divider | undefined) | undefined;
}

const RETRY_MS = 10_000;

interface Attached {
  readonly client: Redis;
  readonly detach: (() => void) | undefined;
}

/**
 * A client of one server whose user and password may change while it is connected. A client that subscribes cannot authenticate again,
 * because RESP2 allows no AUTH after SUBSCRIBE. So another one, with the new user and password, takes over its subscriptions.
 */
export class RenewableClient {
  readonly #options: RenewableClientOptions;
  #current: Attached;
  #renewing: Promise<void> | undefined;
  #isStale = false;
  /** Settles when subscriptions may change again. */
  #held: Promise<void> | undefined;
  #retrying: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: RenewableClientOptions) {
    this.#options = options;
    this.#current = this.#create();
    options.onAdopt(this.client);
  }

  get client(): Redis {
    return this.#current.client;
  }

  /** Sends a command that changes the subscriptions: at once, or when another client has taken them over. */
  async changeSubscriptions(command: Command): Promise<unknown> {
    if (this.#held) await this.#held;
    return this.client.sendCommand(command);
  }

  /** User and password change nothing more. The client is closed by its owner. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retrying);
    this.#current.detach?.();
  }

  #create(): Attached {
    const { create, access, createMark } = this.#options;
    const client = create();
    return { client, detach: access?.attach(client, createMark && (() => this.#renew())) };
  }

  #renew(): void {
    this.#isStale = true;
    this.#renewing ??= this.#renewAll().finally(() => (this.#renewing = undefined));
  }

  async #renewAll(): Promise<void> {
    clearTimeout(this.#retrying);
    while (this.#isStale && !this.#isClosed && this.client.status === 'ready') {
      this.#isStale = false;
      const { stream } = this.client;
      try {
        await this.#replace();
      } catch (error) {
        // A connection that was lost has the new user and password at its next attempt.
        if (this.#isClosed || this.client.stream !== stream) return;
        this.#warn(error as Error);
        this.#retrying = setTimeout(() => this.#renew(), RETRY_MS).unref();
        return;
      }
    }
  }

  async #replace(): Promise<void> {
    const next = this.#create();
    try {
      await connect(next.client);
      const mark = this.#options.createMark?.();
      if (!mark) throw new Error('the node serves no slot');
      const taken = handOver(this.client, next.client, mark).then(() => this.#adopt(next, mark));
      // Commands that wait go to the client that there is then.
      this.#held = taken.catch(() => undefined);
      await taken;
    } catch (error) {
      next.detach?.();
      next.client.disconnect();
      throw error;
    } finally {
      this.#held = undefined;
    }
  }

  #adopt(next: Attached, { kind, channel }: Divider): void {
    // The owner has closed the client that `next` would replace.
    if (this.#isClosed) throw new Error('the link is closed');
    const { client, detach } = this.#current;
    detach?.();
    this.#current = next;
    next.client.removeAllListeners('error');
    this.#options.onAdopt(next.client);
    next.client[kind === 'subscribe' ? 'unsubscribe' : 'sunsubscribe'](channel).catch(() => undefined);
    client.removeAllListeners();
    client.on('error', () => undefined);
    client.disconnect();
  }

  #warn(error: Error): void {
    const { label: server, log } = this.#options;
    const reason = error.name === 'ReplyError' ? replyFailure(error.message) : error.message;
    log.warn(
      { server, reason },
      'an open connection could not be replaced by one with the new user and password of Redis; tried again soon',
    );
  }
}

/** Resolves when Redis has accepted user and password. */
async function connect(client: Redis): Promise<void> {
  let failure: Error | undefined;
  client.on('error', (error: Error) => (failure ??= error));
  try {
    await client.connect();
    await client.ping();
    // A refused AUTH closes the socket, but the reply to PING may follow the refusal at once.
    await nextTurn();
  } catch (error) {
    throw failure ?? error;
  }
  if (failure) throw failure;
}
