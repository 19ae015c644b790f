import { randomUUID } from 'node:crypto';
import type { Logger } from '../../base/log.ts';
import type { BusObserver } from '../bus.ts';
import { DeliveryProbe } from './delivery-probe.ts';
import type { RedisAccess } from './redis-access.ts';
import type { RedisTarget } from '../../config/addresses/redis-address.ts';
import { RedisLink } from './redis-link.ts';
import type { RedisSubscriber } from './redis-subscriber.ts';
import type { RedisTag } from './redis-tag.ts';
import type { Divider } from './subscription-handover.ts';

export interface RedisServerOptions {
  readonly log: Logger;
  readonly observer?: BusObserver;
  /** Default: credentials and TLS as the URL says. */
  readonly access?: RedisAccess | undefined;
  /**
   * A link is dropped if no byte arrives for this long, in ms, while a reply is due (at the earliest after half of it). Also bounds
   * `publish`. Default 6,000.
   */
  readonly silenceTimeoutMs?: number;
  /** Interval of the delivery probe, in ms. Links that do not deliver are dropped two intervals after the probe. Default 2,500. */
  readonly probeIntervalMs?: number;
}

export interface RedisServerPlace {
  readonly subscriber: RedisSubscriber;
  /** A tag that the server has now; undefined: it has none. */
  readonly tag: (server: RedisServer) => RedisTag | undefined;
  /** Of a node of a Redis Cluster: see RedisLinkOptions. */
  readonly onMoved?: () => void;
}

/** One Redis, with a link to publish and a link to subscribe. */
export class RedisServer {
  readonly publisher: RedisLink;
  readonly subscriberLink: RedisLink;
  readonly #probe: DeliveryProbe;
  readonly #access: RedisAccess | undefined;
  #isClosed = false;

  constructor(target: RedisTarget, { subscriber, tag, onMoved }: RedisServerPlace, options: RedisServerOptions) {
    const { log, observer, access, silenceTimeoutMs = 6_000 } = options;
    this.#access = access;
    const onUp = (isReconnect: boolean) => {
      if (isReconnect) observer?.onReconnect?.();
    };
    const common = { target, access, log, silenceTimeoutMs, onMoved, onReplica: () => this.#onReplica() };
    const publisher = new RedisLink({ ...common, role: 'publisher', onUp, onDown: () => onMoved?.() });
    const subscriberLink: RedisLink = new RedisLink({
      ...common,
      role: 'subscriber',
      onUp: (isReconnect) => {
        onUp(isReconnect);
        subscriber.up(subscriberLink);
      },
      onDown: () => {
        subscriber.down(subscriberLink);
        onMoved?.();
      },
      onEnded: (channel) => subscriber.ended(subscriberLink, channel),
      createMark: () => markOf(tag(this), publisher),
    });
    subscriber.attach(subscriberLink);
    this.publisher = publisher;
    this.subscriberLink = subscriberLink;
    const intervalMs = options.probeIntervalMs ?? 2_500;
    const onRoundTrip = (ms: number) => observer?.onRoundTrip?.(publisher.label, ms);
    const probed = { target, access, publisher, subscriberLink, subscriber, tag: () => tag(this) };
    this.#probe = new DeliveryProbe({ ...probed, intervalMs, onRoundTrip });
  }

  get links(): readonly RedisLink[] {
    return [this.publisher, this.subscriberLink];
  }

  get isUp(): boolean {
    return this.publisher.isUp && this.subscriberLink.isUp;
  }

  /**
   * Resolves when each link has its first answer or its first failure.
   * @throws ConfigError when the server is a node of a Redis Cluster and should be none
   */
  async connect(): Promise<void> {
    await Promise.all([this.publisher.start(), this.subscriberLink.start()]);
    if (!this.#isClosed) this.#probe.start();
  }

  /** The name of the server, or the Sentinels, lead the next connections to the primary. */
  #onReplica(): void {
    const setting = this.#access?.names.REDIS_URL ?? 'REDIS_URL';
    for (const link of this.links) link.drop(`it is a replica; ${setting} must lead to the primary`, 'READONLY');
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#probe.close();
    await Promise.all([this.publisher.close(), this.subscriberLink.close()]);
  }
}

/** undefined: the server has no tag now, so nobody listens to it. */
function markOf(tag: RedisTag | undefined, { client }: RedisLink): Divider | undefined {
  if (!tag) return undefined;
  const channel = `${tag.prefix}mark:${randomUUID()}`;
  const kind = tag.publishCommand === 'spublish' ? 'ssubscribe' : 'subscribe';
  return { channel, kind, publish: () => client[tag.publishCommand](channel, '') };
}
