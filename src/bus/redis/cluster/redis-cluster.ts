import { Redis } from 'ioredis';
import { ConfigError } from '../../../base/errors.ts';
import { LogWindow } from '../../../base/log.ts';
import type { Logger } from '../../../base/log.ts';
import { withTimeout } from '../../../base/with-timeout.ts';
import { guardParser } from '../guarded-parser.ts';
import { NO_LINK } from '../publish-link.ts';
import type { PublishLink } from '../publish-link.ts';
import { addressText } from '../../../config/addresses/redis-address.ts';
import type { ClusterAddress, ClusterNode, RedisTarget } from '../../../config/addresses/redis-address.ts';
import { describe } from '../reply-error.ts';
import type { RedisLink } from '../redis-link.ts';
import { CLUSTER_SCRIPTS } from '../redis-scripts.ts';
import { RedisServer } from '../redis-server.ts';
import type { RedisServerOptions } from '../redis-server.ts';
import { RedisSubscriber } from '../redis-subscriber.ts';
import type { RedisTag } from '../redis-tag.ts';
import type { RedisTopology, RedisTopologyOptions } from '../redis-topology.ts';
import { ClusterPlainChannels } from './cluster-plain-channels.ts';
import { HASH_TAGS, tagIndexOf, tagNameOf } from './hash-tags.ts';
import { primaryOf, readSlotMap } from './slot-map.ts';
import type { SlotMap } from './slot-map.ts';

/** In ms, while every tag has a server that answers. */
const REFRESH_INTERVAL_MS = 5_000;
/** In ms, while some tag has none, and for a while after a node has said that a slot is elsewhere. */
const URGENT_REFRESH_MS = 250;
const URGENT_REFRESHES = 8;
/** In ms, between two refreshes, however many commands are refused. */
const MIN_INTERVAL_MS = 50;
/** Longest wait for a node's answer, in ms. */
const ASK_TIMEOUT_MS = 1_000;
/** In ms. A shorter absence is waited for: to skip messages makes the worker read their records twice. */
const AWAY_AFTER_MS = 1_000;
const LOG_WINDOW_MS = 5_000;

export interface RedisClusterOptions extends RedisServerOptions, RedisTopologyOptions {
  readonly address: ClusterAddress;
}

/** A tag, and the primary that serves its slot now. */
class ClusterTag implements RedisTag {
  readonly name: string;
  readonly prefix: string;
  readonly slot: number;
  readonly scripts = CLUSTER_SCRIPTS;
  readonly publishCommand = 'spublish';
  home: RedisServer | undefined;
  /** Since when it was looked for in vain, of performance.now(). */
  #awaySince: number | undefined;

  constructor({ name, slot }: { name: string; slot: number }, prefix: string) {
    this.name = name;
    this.prefix = name + prefix;
    this.slot = slot;
  }

  get publisher(): PublishLink {
    return this.home?.publisher ?? NO_LINK;
  }

  isAway(): boolean {
    const now = performance.now();
    this.#awaySince = this.publisher.isUp ? undefined : (this.#awaySince ?? now);
    return now - (this.#awaySince ?? now) >= AWAY_AFTER_MS;
  }
}

/**
 * The primaries of a Redis Cluster, with two links to each. Which of them serves a tag's slot is asked for every 5 s, whenever a node refuses
 * a slot, and while a link is down. Not ioredis's Cluster: it keeps neither the order of what it repeats nor says which channels had a gap.
 */
export class RedisCluster implements RedisTopology {
  readonly tags: readonly ClusterTag[];
  readonly subscriber: RedisSubscriber;
  readonly plain: ClusterPlainChannels;
  readonly #options: RedisClusterOptions;
  readonly #log: Logger;
  readonly #window = new LogWindow(LOG_WINDOW_MS);
  /** By address. */
  readonly #servers = new Map<string, RedisServer>();
  /** Those of REDIS_URL and of the last map, by address: each may be asked when the others are away. */
  #known: ReadonlyMap<string, ClusterNode>;
  #urgent = 0;
  #timer: NodeJS.Timeout | undefined;
  #refreshing: Promise<void> | undefined;
  /** Start of the last refresh, of performance.now(). */
  #refreshedAt = -Infinity;
  #isClosed = false;

  constructor(options: RedisClusterOptions) {
    const { prefix, log, onGap, subscribeTimeoutMs: acknowledgeTimeoutMs, address } = options;
    this.#options = options;
    this.#log = log;
    this.tags = HASH_TAGS.map((tag) => new ClusterTag(tag, prefix));
    const tagsByName = new Map(this.tags.map((tag) => [tag.name, tag]));
    this.subscriber = new RedisSubscriber({
      ...{ log, acknowledgeTimeoutMs, tagOf: tagNameOf },
      onGap: (channels) => onGap(channels.map((channel) => channel.slice(tagNameOf(channel).length))),
      linkOf: (channel) => tagsByName.get(tagNameOf(channel))?.home?.subscriberLink,
    });
    this.plain = new ClusterPlainChannels({ ...options, servers: () => [...this.#servers.values()] });
    this.#known = byAddress(address.seeds);
  }

  get links(): readonly RedisLink[] {
    return [...[...this.#servers.values()].flatMap(({ links }) => links), ...this.plain.links];
  }

  get awayServers(): readonly string[] {
    if (this.#servers.size === 0) return this.#options.address.seeds.map(addressText);
    const away = [...this.#servers.values()].filter(({ isUp }) => !isUp).map(({ publisher }) => publisher.label);
    const homeless = this.tags.some(({ home }) => !home) ? ['slots that no node serves'] : [];
    return [...away, ...homeless];
  }

  readonly tagIndexOf = tagIndexOf;

  async start(): Promise<void> {
    await this.#refresh();
    this.#schedule();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.subscriber.close();
    await Promise.all([this.plain.close(), ...[...this.#servers.values()].map((server) => server.close())]);
    await this.#refreshing?.catch(() => undefined);
  }

  /** A slot is elsewhere, or a link is lost. */
  readonly #onMoved = (): void => {
    this.#urgent = URGENT_REFRESHES;
    this.plain.reroute();
    if (!this.#refreshing) this.#schedule(Math.max(0, this.#refreshedAt + MIN_INTERVAL_MS - performance.now()));
  };

  #schedule(delayMs?: number): void {
    if (this.#isClosed) return;
    clearTimeout(this.#timer);
    const isUrgent = this.#urgent > 0 || this.awayServers.length > 0;
    const due = delayMs ?? (isUrgent ? URGENT_REFRESH_MS : REFRESH_INTERVAL_MS);
    this.#timer = setTimeout(() => {
      this.#urgent = Math.max(0, this.#urgent - 1);
      void this.#refresh()
        .catch((error: unknown) => this.#warn((error as Error).message))
        .finally(() => this.#schedule());
    }, due);
  }

  /** Reads the map of slots and moves the tags. Resolves when the links of new primaries have their first answer or failure. */
  #refresh(): Promise<void> {
    this.#refreshing ??= this.#readAndPlace().finally(() => (this.#refreshing = undefined));
    return this.#refreshing;
  }

  async #readAndPlace(): Promise<void> {
    this.#refreshedAt = performance.now();
    const map = await this.#readMap();
    if (!map || this.#isClosed) return;
    this.#known = byAddress([...this.#options.address.seeds, ...map.nodes]);
    const added: RedisServer[] = [];
    let hasMoved = false;
    for (const tag of this.tags) {
      const primary = primaryOf(map, tag.slot);
      const home = primary && (this.#servers.get(addressText(primary)) ?? this.#add(primary, added));
      hasMoved ||= home !== tag.home;
      tag.home = home;
    }
    if (!hasMoved) return;
    this.subscriber.reroute();
    this.#removeIdle();
    await Promise.all(added.map((server) => server.connect()));
    this.plain.reroute();
  }

  #add(node: ClusterNode, added: RedisServer[]): RedisServer {
    const tagOf = (server: RedisServer) => this.tags.find(({ home }) => home === server);
    const place = { subscriber: this.subscriber, tag: tagOf, onMoved: this.#onMoved };
    const server = new RedisServer(this.#targetOf(node), place, this.#options);
    this.#servers.set(addressText(node), server);
    added.push(server);
    return server;
  }

  #targetOf(node: ClusterNode): RedisTarget {
    const address = addressText(node);
    return this.#options.address.targetOf(node, () => this.#known.get(address)?.hostname);
  }

  /** Closes the links to nodes that serve no tag any more. */
  #removeIdle(): void {
    for (const [address, server] of this.#servers) {
      if (this.tags.some(({ home }) => home === server)) continue;
      this.#servers.delete(address);
      void server.close();
    }
  }

  /** The newest map of all that the linked nodes have, or else that of any node, best of one in a whole cluster; undefined: none answers. */
  async #readMap(): Promise<SlotMap | undefined> {
    const linked = [...this.#servers].filter(([, { publisher }]) => publisher.isUp);
    const asked = linked.map(([address, { publisher }]) =>
      withTimeout(() => readSlotMap(publisher.client, this.#known.get(address)!), ASK_TIMEOUT_MS),
    );
    let newest: SlotMap | undefined;
    for (const answer of await Promise.allSettled(asked)) {
      if (answer.status === 'fulfilled' && answer.value.epoch > (newest?.epoch ?? -2)) newest = answer.value;
    }
    if (newest) return newest;
    for (const node of this.#known.values()) {
      if (this.#isClosed) return undefined;
      const map = await this.#ask(node);
      if (map && map.epoch > (newest?.epoch ?? -2)) newest = map;
      // A node that was taken out of the cluster may run on, with a map of its own.
      if (newest && newest.epoch >= 0) return newest;
    }
    return newest;
  }

  /** Asks a node on a connection of its own. */
  async #ask(node: ClusterNode): Promise<SlotMap | undefined> {
    const { options, label } = this.#targetOf(node);
    const client = new Redis({
      ...options,
      lazyConnect: true,
      connectTimeout: ASK_TIMEOUT_MS,
      commandTimeout: ASK_TIMEOUT_MS,
      retryStrategy: () => null,
      enableReadyCheck: false,
      disableClientInfo: true,
    });
    guardParser(client);
    const detach = this.#options.access?.attach(client);
    let loss: Error | undefined;
    client.on('error', (error: Error) => (loss ??= error));
    try {
      await client.connect();
      return await readSlotMap(client, node);
    } catch (error) {
      const reason = describe(loss ?? (error as Error));
      if (/cluster support disabled/i.test(reason)) throw notACluster(label, this.#urlSetting);
      this.#warn(`${label}: ${reason}`);
      return undefined;
    } finally {
      detach?.();
      client.disconnect();
    }
  }

  get #urlSetting(): string {
    return this.#options.access?.names.REDIS_URL ?? 'REDIS_URL';
  }

  #warn(reason: string): void {
    if (this.#isClosed) return;
    this.#window.run('ask', (suppressed) =>
      this.#log.warn(
        { reason, suppressed },
        `a node of the Redis Cluster did not say which node serves which slots; asking again. Check ${this.#urlSetting}, and that the cluster runs`,
      ),
    );
  }
}

function byAddress(nodes: readonly ClusterNode[]): ReadonlyMap<string, ClusterNode> {
  return new Map(nodes.map((node) => [addressText(node), node]));
}

function notACluster(label: string, setting: string): ConfigError {
  return new ConfigError(
    `${setting}: ${label} cannot be used so: it is no node of a Redis Cluster; write redis:// (rediss:// for TLS) before one host`,
  );
}
