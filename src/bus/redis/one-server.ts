import type { RedisTarget } from '../../config/addresses/redis-address.ts';
import { SERVER_SCRIPTS } from './redis-scripts.ts';
import { RedisServer } from './redis-server.ts';
import type { RedisServerOptions } from './redis-server.ts';
import { RedisSubscriber } from './redis-subscriber.ts';
import type { RedisTag } from './redis-tag.ts';
import type { PlainChannels, RedisTopology, RedisTopologyOptions } from './redis-topology.ts';

/** One Redis, or the primary that Sentinels name: it has every key and every channel. */
export class OneServer implements RedisTopology {
  readonly tags: readonly RedisTag[];
  readonly subscriber: RedisSubscriber;
  readonly plain: PlainChannels;
  readonly #server: RedisServer;

  constructor(target: RedisTarget, options: RedisServerOptions & RedisTopologyOptions) {
    const { prefix, log, onGap, subscribeTimeoutMs: acknowledgeTimeoutMs } = options;
    const subscriber: RedisSubscriber = new RedisSubscriber({
      ...{ log, acknowledgeTimeoutMs, onGap },
      linkOf: () => this.#server.subscriberLink,
    });
    this.#server = new RedisServer(target, { subscriber, tag: () => tag }, options);
    const { publisher } = this.#server;
    const common = { isAway: () => false, scripts: SERVER_SCRIPTS, publishCommand: 'publish' } as const;
    const tag: RedisTag = { name: '', prefix, publisher, ...common };
    this.tags = [tag];
    this.subscriber = subscriber;
    this.plain = { subscriber, publisher };
  }

  get links() {
    return this.#server.links;
  }

  get awayServers(): readonly string[] {
    return this.#server.isUp ? [] : [this.#server.publisher.label];
  }

  tagIndexOf(): number {
    return 0;
  }

  start(): Promise<void> {
    return this.#server.connect();
  }

  async close(): Promise<void> {
    this.subscriber.close();
    await this.#server.close();
  }
}
