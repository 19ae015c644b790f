import type { Sender } from '../../flow/sender.ts';
import type { Logger } from '../../log.ts';
import type { BusObserver } from '../bus.ts';
import { DeliveryProbe } from './delivery-probe.ts';
import { RedisFence } from './redis-fence.ts';
import { RedisFlow } from './redis-flow.ts';
import { RedisLink } from './redis-link.ts';
import { RedisSubscriber } from './redis-subscriber.ts';

export interface RedisServerOptions {
  readonly prefix: string;
  readonly log: Logger;
  readonly observer?: BusObserver;
  /** Longest wait of `subscribe` for the acknowledgement, in ms. Default 5,000. */
  readonly subscribeTimeoutMs?: number;
  /**
   * A link is dropped if no byte arrives for this long, in ms, while a reply is due (at the earliest after half of it). Also bounds
   * `publish`. Default 6,000.
   */
  readonly silenceTimeoutMs?: number;
  /** Interval of the delivery probe, in ms. Links that do not deliver are dropped two intervals after the probe. Default 2,500. */
  readonly probeIntervalMs?: number;
  /** Messages of these channels may have been lost. */
  onGap(channels: readonly string[]): void;
}

/** One Redis, with a link to publish and a link to subscribe. */
export class RedisServer {
  readonly publisher: RedisLink;
  readonly fence: RedisFence;
  readonly flow: RedisFlow;
  readonly subscriberLink: RedisLink;
  readonly subscriber: RedisSubscriber;
  readonly probe: DeliveryProbe;

  constructor(url: string, sender: Sender, options: RedisServerOptions) {
    const { log, prefix, observer, silenceTimeoutMs = 6_000, subscribeTimeoutMs = 5_000 } = options;
    const onUp = (isReconnect: boolean) => {
      if (isReconnect) observer?.onReconnect?.();
    };
    const publisher = new RedisLink({
      url,
      role: 'publisher',
      log,
      silenceTimeoutMs,
      onUp,
      onDown: () => undefined,
    });
    const subscriberLink = new RedisLink({
      url,
      role: 'subscriber',
      log,
      silenceTimeoutMs,
      onUp: (isReconnect) => {
        onUp(isReconnect);
        subscriber.up();
      },
      onDown: () => subscriber.down(),
    });
    const subscriber = new RedisSubscriber(subscriberLink, {
      log,
      acknowledgeTimeoutMs: subscribeTimeoutMs,
      onGap: (channels) => options.onGap(channels),
    });
    this.publisher = publisher;
    this.subscriberLink = subscriberLink;
    this.subscriber = subscriber;
    this.flow = new RedisFlow({ publisher, subscriber, prefix, sender });
    this.fence = new RedisFence(publisher, prefix, this.flow, sender);
    const intervalMs = options.probeIntervalMs ?? 2_500;
    const onRoundTrip = (ms: number) => observer?.onRoundTrip?.(publisher.label, ms);
    this.probe = new DeliveryProbe({ url, prefix, publisher, subscriberLink, subscriber, intervalMs, onRoundTrip });
  }

  /**
   * Resolves when each link has its first answer or its first failure.
   * @throws ConfigError when the server is a node of a Redis Cluster
   */
  async connect(): Promise<void> {
    await Promise.all([this.publisher.start(), this.subscriberLink.start()]);
  }

  async close(): Promise<void> {
    this.probe.close();
    this.subscriber.close();
    await Promise.all([this.publisher.close(), this.subscriberLink.close()]);
  }
}
