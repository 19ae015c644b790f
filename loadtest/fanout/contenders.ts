import { join, resolve } from 'node:path';
import type { RedisKind } from '../../stack/redis.ts';
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

const crier = {
  script: '../src/main.js',
  environment: { ROLE: 'gateway', GRAPH: 'loadtest/graphs/fanout' },
  nodeArguments: startArguments(),
  isGraphql: true,
  hasMetrics: true,
  hasCoordinates: true,
};

const crierWithWorker = {
  ...crier,
  environment: { ...crier.environment, ROLE: 'all' },
  isFedByKafka: true,
  isExtra: true,
};

/** Its sockets have a token each, of one user; their claims are the token's. */
const crierWithTokens = {
  ...crier,
  environment: { ...crier.environment, JWT_SECRET: 'a secret of the benchmarks, of 32 bytes', JWT_AUDIENCE: 'crier' },
  isExtra: true,
};

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
  { name: 'crier-shared', title: 'crier, shared', ...crier },
  { name: 'crier-sse', title: 'crier, shared, SSE', ...crier, isStream: true, base: 'crier-shared', isExtra: true },
  {
    name: 'crier-deflate',
    title: 'crier, shared, compressed',
    ...crier,
    environment: { ...crier.environment, COMPRESSION: 'on' },
    isCompressed: true,
    base: 'crier-shared',
    isExtra: true,
  },
  {
    name: 'crier-deflate-window',
    title: 'crier, shared, compressed with a window',
    ...crier,
    environment: { ...crier.environment, COMPRESSION: 'on' },
    isCompressed: true,
    hasWindow: true,
    base: 'crier-shared',
    isExtra: true,
  },
  { name: 'crier-tenant', title: 'crier, 50 tenants', ...crier, identity: 'tenant' },
  { name: 'crier-user', title: 'crier, per user', ...crier, identity: 'viewer' },
  {
    name: 'crier-unshared',
    title: 'crier, per user, sharing off',
    ...crier,
    identity: 'viewer',
    edits: withBinding('shared: false'),
    isExtra: true,
  },
  { name: 'crier-all', title: 'crier, every role', ...crierWithWorker },
  { name: 'crier-history', title: 'crier, every role, history', ...crierWithWorker, edits: withBinding('history: {}') },
  { name: 'crier-token', title: 'crier, JWT, shared', ...crierWithTokens },
  { name: 'crier-token-tenant', title: 'crier, JWT, 50 tenants', ...crierWithTokens, identity: 'tenant' },
  {
    name: 'crier-directives',
    title: 'crier, JWT, shared, directives',
    ...crierWithTokens,
    edits: DIRECTIVES,
    base: 'crier-token',
  },
];

/** The same server from the build of another checkout, for comparison. */
export function baseOf(contender: Contender, checkout: string): Contender {
  const script = join(resolve(checkout), 'dist/src/main.js');
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
