import type { PublishLink } from './publish-link.ts';
import type { Scripts } from './redis-scripts.ts';

/**
 * Keys and channels that one server has together: all of them or, in a Redis Cluster, those of one hash tag
 * (https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#hash-tags).
 */
export interface RedisTag {
  /** Begins the name of each key and channel in Redis; '' outside a cluster. */
  readonly name: string;
  /** The same, with CHANNEL_PREFIX. */
  readonly prefix: string;
  /** To the server that has the tag now. */
  readonly publisher: PublishLink;
  /** True if there has been no link to a server that has the tag for a second, since the first call that found none. Outside a cluster: false. */
  isAway(): boolean;
  readonly scripts: Scripts;
  /** SPUBLISH in a cluster, which reaches the subscribers of the shard only. */
  readonly publishCommand: 'publish' | 'spublish';
}
