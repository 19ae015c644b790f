import { randomUUID } from 'node:crypto';
import { NO_LINK } from '../publish-link.ts';
import type { PublishLink } from '../publish-link.ts';
import { RedisLink } from '../redis-link.ts';
import type { RedisServer, RedisServerOptions } from '../redis-server.ts';
import { RedisSubscriber } from '../redis-subscriber.ts';
import type { Divider } from '../subscription-handover.ts';
import type { PlainChannels, RedisTopologyOptions } from '../redis-topology.ts';

export interface ClusterPlainChannelsOptions extends RedisServerOptions, RedisTopologyOptions {
  readonly servers: () => readonly RedisServer[];
}

/** The plain channels of a Redis Cluster. PUBLISH reaches every node, so all of them are subscribed on one, by a link of their own. */
export class ClusterPlainChannels implements PlainChannels {
  readonly subscriber: RedisSubscriber;
  readonly #options: ClusterPlainChannelsOptions;
  /** Present once a plain channel was wanted. */
  #link: RedisLink | undefined;
  #isWanted = false;
  #isClosed = false;

  constructor(options: ClusterPlainChannelsOptions) {
    this.#options = options;
    const { log, onGap, subscribeTimeoutMs: acknowledgeTimeoutMs } = options;
    const linkOf = () => {
      this.#isWanted = true;
      return this.#link ?? this.#choose();
    };
    this.subscriber = new RedisSubscriber({ log, acknowledgeTimeoutMs, onGap, linkOf });
  }

  get publisher(): PublishLink {
    const servers = this.#options.servers();
    const server = servers.find(({ publisher }) => publisher.isUp) ?? servers[0];
    return server?.publisher ?? NO_LINK;
  }

  get links(): readonly RedisLink[] {
    return this.#link ? [this.#link] : [];
  }

  /** The nodes, or their links, have changed: a link that is lost, or whose node serves no slot any more, moves to a node that answers. */
  reroute(): void {
    if (!this.#isWanted || this.#isClosed) return;
    const servers = this.#options.servers();
    const isOfLink = ({ publisher }: RedisServer) => publisher.label === this.#link?.label;
    if (this.#link?.isUp && servers.some(isOfLink)) return;
    if (!servers.some((server) => server.isUp && !isOfLink(server))) return;
    void this.#link?.close();
    this.#link = undefined;
    this.subscriber.reroute();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.subscriber.close();
    await this.#link?.close();
  }

  #choose(): RedisLink | undefined {
    const servers = this.#options.servers();
    const server = servers.find(({ isUp }) => isUp) ?? servers[0];
    if (!server || this.#isClosed) return undefined;
    const { access, log, silenceTimeoutMs = 6_000, observer } = this.#options;
    const link: RedisLink = new RedisLink({
      target: server.subscriberLink.target,
      access,
      role: 'subscriber',
      log,
      silenceTimeoutMs,
      onUp: (isReconnect) => {
        if (isReconnect) observer?.onReconnect?.();
        this.subscriber.up(link);
      },
      onDown: () => {
        this.subscriber.down(link);
        // The link that replaces a closed one is not up yet.
        if (link === this.#link) this.reroute();
      },
      onMoved: () => this.reroute(),
      createMark: () => markOf(this.#options.prefix, this.publisher),
    });
    this.subscriber.attach(link);
    this.#link = link;
    void link.start();
    return link;
  }
}

/** A node of a cluster passes each plain message on to all others, so the mark can be published at any of them. */
function markOf(prefix: string, publisher: PublishLink): Divider {
  const channel = `${prefix}mark:${randomUUID()}`;
  return { channel, kind: 'subscribe', publish: () => publisher.client.publish(channel, '') };
}
