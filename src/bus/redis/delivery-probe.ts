import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { guardParser } from './guarded-parser.ts';
import type { RedisTarget } from '../../config/addresses/redis-address.ts';
import type { RedisAccess } from './redis-access.ts';
import type { RedisLink } from './redis-link.ts';
import type { RedisSubscriber } from './redis-subscriber.ts';
import type { RedisTag } from './redis-tag.ts';

export interface DeliveryProbeOptions {
  readonly target: RedisTarget;
  readonly access?: RedisAccess | undefined;
  /** A tag that the server has now; undefined: it has none. */
  readonly tag: () => Pick<RedisTag, 'prefix' | 'publishCommand'> | undefined;
  readonly publisher: RedisLink;
  readonly subscriberLink: RedisLink;
  readonly subscriber: RedisSubscriber;
  /** Between two probes, in ms. What has not arrived two of them later arrives no more. */
  readonly intervalMs: number;
  /** Time from publishing on our link to the message's arrival. */
  readonly onRoundTrip: (ms: number) => void;
}

/** By which way a probe goes out: the link that we publish on, or one that is made for it. */
type Way = 'ours' | 'new';

/** Probes of one way, by the rounds in which they were sent. */
interface Trail {
  heard: number;
  /** The oldest that was accepted, but did not arrive, nor any after it. */
  unheard: number | undefined;
}

/**
 * Detects links that answer every PING but lead to the wrong Redis. After a failover behind one host name, the old master may live on,
 * cut off from the new one, and our links still lead to it. The probe publishes on our link and on a new connection; both messages must arrive
 * on the subscriber link, otherwise the links are dropped and reconnect. The new connection is needed: it still delivers what our own link
 * publishes on it (test/bus/redis/detached-replica.test.ts).
 */
export class DeliveryProbe {
  readonly #options: DeliveryProbeOptions;
  readonly #id = randomUUID();
  /** '': none is subscribed. */
  #channel = '';
  readonly #trails: Record<Way, Trail> = {
    ours: { heard: 0, unheard: undefined },
    new: { heard: 0, unheard: undefined },
  };
  #round = 0;
  /** When the last round was sent, of performance.now(). */
  #sentAt = 0;
  #timer: NodeJS.Timeout | undefined;
  /** While a probe is on its way out. */
  #fresh: Redis | undefined;

  constructor(options: DeliveryProbeOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#onTurn(), this.#options.intervalMs);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#fresh?.disconnect();
    this.#move('');
  }

  #onTurn(): void {
    const { publisher, subscriberLink, subscriber } = this.#options;
    const tag = this.#options.tag();
    if (!tag || !publisher.isUp || !subscriberLink.isUp) return this.#forget();
    // After a blocked event loop timers come before input.
    setImmediate(() => this.#judge());
    this.#move(`${tag.prefix}probe:${this.#id}`);
    this.#round++;
    // A channel that Redis refuses us proves nothing.
    if (!this.#fresh && subscriber.isLive(this.#channel)) void this.#send(this.#round, tag.publishCommand);
  }

  /** In a cluster, the tag of the last channel may have moved to another server. */
  #move(channel: string): void {
    const { subscriber } = this.#options;
    if (channel === this.#channel) return;
    if (this.#channel !== '') subscriber.unsubscribe(this.#channel);
    this.#channel = channel;
    this.#forget();
    if (channel !== '') subscriber.subscribe(channel, (message) => this.#onArrival(message.toString()));
  }

  #judge(): void {
    const { publisher, subscriberLink } = this.#options;
    const isLost = ({ unheard }: Trail) => unheard !== undefined && unheard <= this.#round - 2;
    const { ours, new: fresh } = this.#trails;
    if (isLost(fresh)) subscriberLink.drop('it is up, but what a new link publishes does not arrive on it');
    if (isLost(fresh) || isLost(ours)) {
      publisher.drop('it is up, but what is published on it does not arrive');
      this.#forget();
    }
  }

  async #send(round: number, command: RedisTag['publishCommand']): Promise<void> {
    const { publisher, target, access, intervalMs } = this.#options;
    const channel = this.#channel;
    const fresh = (this.#fresh = new Redis({
      ...target.options,
      lazyConnect: true,
      connectTimeout: intervalMs,
      commandTimeout: intervalMs,
      retryStrategy: () => null,
      sentinelRetryStrategy: () => null,
      enableReadyCheck: false,
      disableClientInfo: true,
    }));
    guardParser(fresh);
    const detachAccess = access?.attach(fresh);
    fresh.on('error', () => undefined);
    this.#sentAt = performance.now();
    const send = async (way: Way, client: Redis) => {
      await client[command](channel, `${way} ${round}`);
      const trail = this.#trails[way];
      if (trail.heard < round) trail.unheard ??= round;
    };
    // What is not accepted is not waited for.
    await Promise.allSettled([send('ours', publisher.client), fresh.connect().then(() => send('new', fresh))]);
    fresh.disconnect();
    detachAccess?.();
    this.#fresh = undefined;
  }

  #onArrival(text: string): void {
    const [way, round] = text.split(' ') as [Way, string];
    const trail = this.#trails[way] as Trail | undefined;
    if (!trail) return;
    trail.heard = Number(round);
    if (way === 'ours' && trail.heard === this.#round) this.#options.onRoundTrip(performance.now() - this.#sentAt);
    trail.unheard = undefined;
  }

  #forget(): void {
    for (const trail of Object.values(this.#trails)) trail.unheard = undefined;
  }
}
