import type { Redis } from 'ioredis';
import type { HostPort } from '../redis-address.ts';

/** Which primary serves which slots, as one node knows it. */
export interface SlotMap {
  /** Grows with each change that the node has heard of. */
  readonly epoch: number;
  readonly ranges: readonly SlotRange[];
  /** Every node, replicas too. */
  readonly nodes: readonly HostPort[];
}

interface SlotRange {
  readonly first: number;
  readonly last: number;
  readonly primary: HostPort;
}

/** `metadata`: names and values in turn; `ip` is among them where `host` is something else. */
type NodeReply = readonly [host: string | null, port: number, id: string, metadata?: readonly string[]];
type SlotsReply = readonly [first: number, last: number, ...nodes: readonly NodeReply[]][];

/**
 * @param asked the node's address, which stands in for an address that it does not know
 * @throws ReplyError, for one when the server is no node of a cluster
 */
export async function readSlotMap(client: Redis, asked: HostPort): Promise<SlotMap> {
  const [slots, info] = (await Promise.all([client.cluster('SLOTS'), client.cluster('INFO')])) as unknown as [
    SlotsReply,
    string,
  ];
  const addressOf = (node: NodeReply): HostPort => ({ host: hostOf(node) || asked.host, port: node[1] });
  const ranges = slots.map(([first, last, primary]) => ({ first, last, primary: addressOf(primary!) }));
  const isWhole = /^cluster_state:ok/m.test(info);
  const epoch = Number(/^cluster_current_epoch:(\d+)/m.exec(info)?.[1] ?? 0);
  // A node that is cut off from the others knows less than any of them.
  return { epoch: isWhole ? epoch : -1, ranges, nodes: slots.flatMap(([, , ...nodes]) => nodes.map(addressOf)) };
}

/**
 * Where a node is reached; '' or null: at the host of the node that was asked
 * (https://redis.io/docs/latest/commands/cluster-slots/#nested-result-array).
 */
function hostOf([host, , , metadata = []]: NodeReply): string | null {
  // The cluster prefers host names, and the node announces none.
  if (host !== '?') return host;
  const name = metadata.indexOf('ip');
  return name < 0 ? null : metadata[name + 1]!;
}

/** The primary of a slot; undefined: no node serves it. */
export function primaryOf({ ranges }: SlotMap, slot: number): HostPort | undefined {
  return ranges.find(({ first, last }) => first <= slot && slot <= last)?.primary;
}
