import type { StateFill, StateFills, TopicFills } from '../state-fill.ts';
import { fillsKey, ownersKey } from './redis-keys.ts';
import { FILLS, runScript } from './redis-scripts.ts';
import type { RedisServer } from './redis-server.ts';

const FILL = /^\d+ (-|\d+) (\S+)$/;

/** The fills of all partitions, which each server keeps for its channels. */
export class RedisStateFills implements StateFills {
  readonly servers: readonly string[];
  readonly #servers: readonly Pick<RedisServer, 'publisher' | 'fence'>[];
  readonly #prefix: string;

  constructor(servers: readonly Pick<RedisServer, 'publisher' | 'fence'>[], prefix: string) {
    this.servers = servers.map(({ publisher }) => publisher.label);
    this.#servers = servers;
    this.#prefix = prefix;
  }

  /** A fill has begun, and has ended, when it has on every server. */
  async read(topic: string, partitions?: number): Promise<TopicFills> {
    const keys = [ownersKey(this.#prefix), fillsKey(this.#prefix)];
    const replies = await Promise.all(
      this.#servers.map(({ publisher }) => runScript(publisher, FILLS, keys, [topic, partitions ?? ''])),
    );
    const epochs = new Set<number>();
    const servers = replies.map((reply) => {
      const [epoch, ...texts] = reply as [Buffer, ...Buffer[]];
      epochs.add(Number(epoch));
      return texts.map(fillOf);
    });
    const fills = new Map<number, StateFill>();
    const count = Math.min(...servers.map((server) => server.length));
    for (let partition = 0; partition < count; partition++) {
      const ofServers = servers.map((server) => server[partition]);
      const [first] = ofServers;
      if (!first || !ofServers.every((fill) => fill?.signature === first.signature)) continue;
      fills.set(partition, ofServers.find((fill) => fill?.end !== undefined) ?? first);
    }
    return { partitions: count, epochs, fills };
  }

  async end(topic: string, partition: number, signature: string): Promise<void> {
    await Promise.all(this.#servers.map(({ fence }) => fence.endFill(topic, partition, signature)));
  }
}

function fillOf(text: Buffer): StateFill | undefined {
  const [, end, signature] = FILL.exec(String(text)) ?? [];
  if (end === undefined || signature === undefined) return undefined;
  return { signature, end: end === '-' ? undefined : BigInt(end) };
}
