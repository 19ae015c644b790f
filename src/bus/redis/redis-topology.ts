import type { PublishLink } from './publish-link.ts';
import type { RedisLink } from './redis-link.ts';
import type { RedisSubscriber } from './redis-subscriber.ts';
import type { RedisTag } from './redis-tag.ts';

/** Plain channels, on which any program may publish with PUBLISH. */
export interface PlainChannels {
  readonly subscriber: RedisSubscriber;
  readonly publisher: PublishLink;
}

/** The servers of a bus, and which of them has which keys and channels. */
export interface RedisTopology {
  /** One, or in a Redis Cluster the same ones for every pod. */
  readonly tags: readonly RedisTag[];
  /** Index of the tag that a channel or a key has, of its name without the tag. */
  tagIndexOf(name: string): number;
  readonly subscriber: RedisSubscriber;
  readonly plain: PlainChannels;
  readonly links: readonly RedisLink[];
  /** `host:port` of each server that does not answer. */
  readonly awayServers: readonly string[];
  /**
   * Resolves after the first attempt to connect, also a failed one.
   * @throws ConfigError when the servers are of another kind than REDIS_URL says
   */
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface RedisTopologyOptions {
  /** CHANNEL_PREFIX. */
  readonly prefix: string;
  /** Longest wait of `subscribe` for the acknowledgement, in ms. */
  readonly subscribeTimeoutMs: number;
  /** Messages of these channels may have been lost. Their names are without the tag. */
  readonly onGap: (channels: readonly string[]) => void;
}
