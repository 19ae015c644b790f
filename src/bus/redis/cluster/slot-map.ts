import type { Redis } from 'ioredis';
import type { ClusterNode, HostPort } from '../../../config/addresses/redis-address.ts';

/** Which primary serves which slots, as one node knows it. */
export interface SlotMap {
  /** Grows with each change that the node has heard of. */
  readonly epoch: number;
  readonly ranges: readonly SlotRange[];
  /** Every node, replicas too. */
  readonly nodes: readonly ClusterNode[];
}

interface SlotRange {
  readonly first: number;
  readonly last: number;
  readonly primary: ClusterNode;
}

/** `metadata`: names and values in turn; `ip` and `hostname` are among them where `host` is something else. */
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
  const addressOf = (node: NodeReply): ClusterNode => ({
    host: hostOf(node) || asked.host,
    port: node[1],
    hostname: metadataOf(node, 'hostname'),
  });
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
function hostOf(node: NodeReply): string | null {
  const [host] = node;
  // The cluster prefers host names, and the node announces none.
  return host === '?' ? (metadataOf(node, 'ip') ?? null) : host;
}

function metadataOf([, , , metadata = []]: NodeReply, name: 'hostname' | 'ip'): string | undefined {
  const at = metadata.indexOf(name);
  return at < 0 ? undefined : metadata[at + 1];
}

/** The primary of a slot; undefined: no node serves it. */
export function primaryOf({ ranges }: SlotMap, slot: number): ClusterNode | undefined {
  return ranges.find(({ first, last }) => first <= slot && slot <= last)?.primary;
}
