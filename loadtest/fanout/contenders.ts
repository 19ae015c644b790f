import type { RedisKind } from '../../stack/redis.ts';
import { CRIER } from '../processes/server-process.ts';
import { startArguments } from '../processes/start-arguments.ts';
import type { IdentityField } from './auction.ts';
import { withBinding } from './graph-variant.ts';
import type { SchemaEdits } from './graph-variant.ts';

/** `one`: a server; `cluster`: three shards without replicas. */
export const CONTENDER_REDIS_KINDS = ['one', 'cluster'] as const satisfies readonly RedisKind[];
export type ContenderRedisKind = (typeof CONTENDER_REDIS_KINDS)[number];

export interface Contender {
  readonly name: string;
  readonly title: string;
  /** Absolute, or relative to dist/loadtest. */
  readonly script: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly nodeArguments?: readonly string[];
  readonly isGraphql: boolean;
  /** Whether ADMIN_PORT has /metrics. */
  readonly hasMetrics?: boolean;
  readonly identity?: IdentityField;
  /** Whether its events are Kafka records; otherwise they are published to Redis. */
  readonly isFedByKafka?: boolean;
  /** Whether published messages start with Kafka coordinates, as those of crier's worker do. */
  readonly hasCoordinates?: boolean;
  /** Of its graph. */
  readonly edits?: SchemaEdits;
  /** The contender that is its base, instead of its own build of another checkout. */
  readonly base?: string | undefined;
  /** Its clients subscribe over server-sent events instead of WebSockets. */
  readonly isStream?: boolean;
  /** Its clients offer permessage-deflate. They count messages and do not inflate them. */
  readonly isCompressed?: boolean;
  /** Its clients keep their window between messages, as browsers do. */
  readonly hasWindow?: boolean;
  /** Its Redis. Default: one server. */
  readonly redis?: ContenderRedisKind;
  /** Measured only when `--servers` names it. */
  readonly isExtra?: boolean;
}

function crier(name: string, title: string, more: Partial<Contender> = {}): Contender {
  return {
    ...{ name, title: `crier, ${title}`, script: CRIER, nodeArguments: startArguments() },
    ...{ isGraphql: true, hasMetrics: true, hasCoordinates: true },
    ...more,
    environment: { ROLE: 'gateway', GRAPH: 'loadtest/graphs/fanout', ...more.environment },
  };
}

const withWorker = { environment: { ROLE: 'all' }, isFedByKafka: true, isExtra: true };

/** Its sockets have a token each, of one user; their claims are the token's. */
const withTokens = {
  environment: { JWT_SECRET: 'a secret of the benchmarks, of 32 bytes', JWT_AUDIENCE: 'crier' },
  isExtra: true,
};

const compressed = { environment: { COMPRESSION: 'on' }, isCompressed: true, base: 'crier-shared', isExtra: true };

/** Directives on three fields and two types. Every token meets them. */
const DIRECTIVES: SchemaEdits = {
  'starting_bid: Float!': 'starting_bid: Float! @requiresScopes(scopes: [["auctions:read"], ["admin"]])',
  'seller_info: SellerInfo': 'seller_info: SellerInfo @authenticated',
  'listing_url: String': 'listing_url: String @requiresScopes(scopes: [["auctions:read", "listings:read"]])',
  'type Fallout {': 'type Fallout @requiresScopes(scopes: [["listings:read"]]) {',
  'type PropertyDetails {': 'type PropertyDetails @authenticated {',
};

/** In the order of the table. The first is the reference of the others. */
export const contenders: readonly Contender[] = [
  { name: 'raw-ws', title: 'raw ws broadcast', script: 'servers/raw-ws.js', isGraphql: false },
  { name: 'graphql-ws', title: 'graphql-ws, as documented', script: 'servers/graphql-ws.js', isGraphql: true },
  { name: 'mercurius', title: 'Mercurius with jit', script: 'servers/mercurius.js', isGraphql: true },
  crier('crier-shared', 'shared'),
  crier('crier-sse', 'shared, SSE', { isStream: true, base: 'crier-shared', isExtra: true }),
  crier('crier-deflate', 'shared, compressed', compressed),
  crier('crier-deflate-window', 'shared, compressed with a window', { ...compressed, hasWindow: true }),
  crier('crier-tenant', '50 tenants', { identity: 'tenant' }),
  crier('crier-user', 'per user', { identity: 'viewer' }),
  crier('crier-unshared', 'per user, sharing off', {
    ...{ identity: 'viewer', edits: withBinding('shared: false'), isExtra: true },
  }),
  crier('crier-all', 'every role', withWorker),
  crier('crier-history', 'every role, history', { ...withWorker, edits: withBinding('history: {}') }),
  crier('crier-token', 'JWT, shared', withTokens),
  crier('crier-token-tenant', 'JWT, 50 tenants', { ...withTokens, identity: 'tenant' }),
  crier('crier-directives', 'JWT, shared, directives', { ...withTokens, edits: DIRECTIVES, base: 'crier-token' }),
];

/** The same server with another script, for comparison. */
export function baseOf(contender: Contender, script: string): Contender {
  return { ...contender, name: baseName(contender.name), title: `${contender.title}, base`, script };
}

/** A server of crier on a Redis Cluster instead of one server. @throws Error for a server that supports none. */
export function onCluster(contender: Contender): Contender {
  if (!isCrier(contender)) throw new Error(`--redis: ${contender.name} does not support a Redis Cluster`);
  const { name, title } = contender;
  return { ...contender, name: `${name}-cluster`, title: `${title}, Redis Cluster`, redis: 'cluster' };
}

export function isCrier({ name }: Contender): boolean {
  return name.startsWith('crier');
}

/** The name of a contender's base in samples and rows. */
export function baseName(contender: string): string {
  return `${contender}-base`;
}

export function titleOf(name: string): string {
  const all = [...contenders, ...contenders.filter(isCrier).map(onCluster)];
  const found = all.find((contender) => contender.name === name);
  if (found) return found.title;
  const ofBase = all.find((contender) => baseName(contender.name) === name);
  return ofBase ? `${ofBase.title}, base` : name;
}
