import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { Writer } from '../../../src/gateway/fanout/outbox/writer.ts';
import type { RouterSettings } from '../../../src/config/routers.ts';
import type { RequestSource } from '../../../src/graph/context/connection-facts.ts';
import { RefusalDelays } from '../../../src/gateway/identity/refusal-delays.ts';
import { TrustedProxies } from '../../../src/config/addresses/client-address.ts';
import { WebSocketEndpoint } from '../../../src/gateway/websocket/websocket-endpoint.ts';
import { SubscriptionTally } from '../../../src/gateway/operations/subscription-tally.ts';
import { Connections } from '../../../src/gateway/connections/connections.ts';
import type { ConnectionsOptions } from '../../../src/gateway/connections/connections.ts';
import { Routers } from '../../../src/gateway/connections/routers.ts';
import { Users } from '../../../src/gateway/connections/users.ts';
import type { WebSocketEndpointOptions } from '../../../src/gateway/websocket/websocket-endpoint.ts';
import type { FailureListener } from '../../../src/gateway/operations/live-operation-services.ts';
import { switches } from '../../support/switches.ts';

export type Limits = WebSocketEndpointOptions['services']['limits'];

export const LIMITS: Limits = {
  maxOperations: 100,
  maxIdBytes: 128,
  maxInitBytes: 8192,
  maxMessageBytes: 65_536,
  maxReceivedBytes: 262_144,
  maxMessagesPerSecond: 20,
  maxMessageBurst: 150,
  maxPendingEvents: 1000,
  maxHeldBytes: 1_048_576,
  maxQueueBytes: 1_048_576,
  documentShare: 1,
  executionTimeoutMs: 10_000,
  maxAgeMs: 0,
};

export const ROUTER_LIMITS: Limits = {
  ...LIMITS,
  maxOperations: 10_000,
  maxMessagesPerSecond: 2000,
  maxMessageBurst: 15_000,
};

/** The format of a connection id. */
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export interface BareGatewayOptions {
  readonly limits?: Limits;
  readonly drainTimeoutMs?: number;
  readonly drainSpreadMs?: number;
  readonly fastShutdown?: AbortSignal;
  readonly pingIntervalMs?: number;
  readonly admission?: Partial<ConnectionsOptions['admission']>;
  readonly overload?: Partial<ConnectionsOptions['overload']>;
  readonly trustedProxies?: readonly string[];
  readonly routers?: Partial<RouterSettings>;
  readonly refusalDelays?: Pick<RefusalDelays, 'run'>;
  readonly maxConnectionsPerAddress?: number;
  readonly maxConnectionsPerUser?: number;
  readonly maxOperationsPerUser?: number;
  /** The parts of the graph's runtime and the hub that clients reach. */
  readonly runtime?: object;
  readonly hub?: object;
  /** Of its connections. Default: facts with nothing but their id and no claims. */
  readonly authenticate?: (
    source: RequestSource,
    admits: (token: { readonly subject: string; readonly claims?: object }) => boolean,
  ) => Promise<object>;
  /** Of the tokens of its connections. */
  readonly refresh?: (identity: object, parameter: object) => Promise<object>;
}

/** A gateway without a graph and a bus, except for the parts that the test passes. */
export async function startBareGateway(t: TestContext, options: BareGatewayOptions = {}) {
  const { limits = LIMITS, drainTimeoutMs = 1000, runtime, hub } = options;
  const authenticate = options.authenticate ?? (({ id }) => Promise.resolve({ facts: { id, claims: {} } }));
  const closes: number[] = [];
  const counts = { opened: 0, slowConsumers: 0, expiredTokens: 0, refreshedTokens: 0 };
  const refusals: string[] = [];
  const failures: Parameters<FailureListener>[] = [];
  const lines: { msg: string; level: number; connection: string }[] = [];
  const writer = new Writer({
    maxQueueBytes: 1_048_576,
    maxPodQueueBytes: 268_435_456,
    hasBatching: switches.WRITE_BATCHING,
  });
  const httpServer = createServer();
  const proxies = new TrustedProxies(options.trustedProxies ?? []);
  const fastShutdown = options.fastShutdown ?? new AbortController().signal;
  const routers = new Routers({ networks: [], claims: [], ...options.routers }, ROUTER_LIMITS);
  const connections = new Connections({
    proxies,
    routers,
    maxConnectionsPerAddress: options.maxConnectionsPerAddress ?? 0,
    pingIntervalMs: options.pingIntervalMs ?? 0,
    admission: {
      maxConnections: 0,
      maxOpenFiles: Infinity,
      maxHandshakesPerSecond: 0,
      maxHandshakeBurst: 1,
      ...options.admission,
    },
    overload: { isMemoryShort: () => false, isLoopLate: () => false, ...options.overload },
    drainSpreadMs: options.drainSpreadMs ?? 0,
    fastShutdown,
    writer,
    observer: { onOpen: () => counts.opened++, onClose: (code) => closes.push(code) },
  });
  const gateway = new WebSocketEndpoint({
    refusedOrigins: { report: () => undefined },
    httpServer,
    handshakes: { add: (_, run) => run() },
    path: '/graphql',
    origins: { allowed: [], own: '' },
    proxies,
    initTimeoutMs: 5000,
    isTokenSubprotocol: false,
    drainTimeoutMs,
    fastShutdown,
    connections,
    services: {
      limits,
      routers,
      authenticator: { authenticate, refresh: options.refresh },
      refusalDelays: options.refusalDelays ?? new RefusalDelays(),
      users: new Users({
        maxConnections: options.maxConnectionsPerUser ?? 0,
        maxOperations: options.maxOperationsPerUser ?? 0,
      }),
      onRefusedUser: () => refusals.push('user'),
      onRefusedOperation: () => undefined,
      runtime,
      hub,
      writer,
      subscriptions: new SubscriptionTally(['tick']),
      log: pino({ level: 'debug' }, { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[0]) }),
      onSlowConsumer: () => counts.slowConsumers++,
      onTokenExpired: () => counts.expiredTokens++,
      onTokenRefreshed: () => counts.refreshedTokens++,
      onFailure: (...failure: Parameters<FailureListener>) => failures.push(failure),
    } as unknown as WebSocketEndpointOptions['services'],
    onRefused: (reason) => refusals.push(reason),
  });
  gateway.start();
  httpServer.listen(0, '127.0.0.1');
  await once(httpServer, 'listening');
  t.after(async () => {
    await gateway.close();
    httpServer.close();
  });
  const { port } = httpServer.address() as AddressInfo;
  return {
    gateway,
    writer,
    port,
    url: `ws://127.0.0.1:${port}/graphql`,
    openSockets: () => new Promise<number>((resolve) => httpServer.getConnections((_, count) => resolve(count))),
    /** Close codes, in the order in which sockets closed. */
    closes,
    counts,
    refusals,
    failures,
    /** Lines of the log. */
    lines,
  };
}
