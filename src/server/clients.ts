import type { Server as HttpServer } from 'node:http';
import type { TrustedProxies } from '../config/addresses/client-address.ts';
import { LogWindow } from '../base/log.ts';
import { routerSettings } from '../config/routers.ts';
import type { TokenLocations } from '../config/token-locations.ts';
import {
  callbackPosts,
  clientCounts,
  observeConnections,
  observeStreams,
  observeSubscriptions,
} from '../gateway/connections/connection-metrics.ts';
import type { Callbacks } from '../gateway/callback/callbacks.ts';
import type { PostResult } from '../gateway/callback/callback-origin.ts';
import {
  admissionLimits,
  connectionLimits,
  routerLimits,
  userLimits,
} from '../gateway/connections/configured-limits.ts';
import { Connections } from '../gateway/connections/connections.ts';
import type { Handshakes } from '../gateway/connections/handshakes.ts';
import type { ClientFiles } from '../gateway/connections/open-files.ts';
import { Routers } from '../gateway/connections/routers.ts';
import { Users } from '../gateway/connections/users.ts';
import { observeDeflater } from '../gateway/fanout/fanout-metrics.ts';
import type { Hub } from '../gateway/fanout/hub.ts';
import { Deflater } from '../gateway/fanout/outbox/deflater.ts';
import type { Writer } from '../gateway/fanout/outbox/writer.ts';
import type { RefusedOrigins } from '../gateway/http/refused-origins.ts';
import type { Authenticator } from '../gateway/identity/authenticator.ts';
import { RefusalDelays } from '../gateway/identity/refusal-delays.ts';
import { SubscriptionTally } from '../gateway/operations/subscription-tally.ts';
import { HttpStreams } from '../gateway/streams/http-streams.ts';
import { WebSocketEndpoint } from '../gateway/websocket/websocket-endpoint.ts';
import type { DocumentQueue } from '../graph/documents/document-queue.ts';
import type { Graph } from '../graph/graph-parts.ts';
import type { OperationRunner } from '../graph/operation-runner.ts';
import { drainTimeoutMs } from './gateway-drain.ts';
import { ENDPOINT } from './http-server.ts';
import type { RefusedClients } from './refused-clients.ts';
import type { GatewayServices, RoleServices } from './services.ts';

const LOG_WINDOW_MS = 10_000;
const PROXY_LOG_WINDOW_MS = 60_000;

export function createRouters(services: RoleServices): Routers {
  const { config, log } = services;
  const { ROUTERS, TRUSTED_PROXIES } = config.names;
  const window = new LogWindow(PROXY_LOG_WINDOW_MS);
  const text = `an address of ${ROUTERS} sends X-Forwarded-For, as a proxy of other clients does, so it has the limits of a client: name a proxy in ${TRUSTED_PROXIES}; let a router send no X-Forwarded-For, or name it by a claim of its token`;
  return new Routers(routerSettings(config.ROUTERS), routerLimits(services), (peer) =>
    window.run('proxy', (suppressed) => log.warn({ peer, suppressed }, text)),
  );
}

/** Components that admit connections. */
interface AdmissionParts {
  readonly proxies: TrustedProxies;
  readonly routers: Routers;
  readonly files: ClientFiles;
  readonly refused: RefusedClients;
  readonly writer: Writer;
}

/** The connections of all transports, which the gateway starts and drains. */
export function createConnections(
  services: GatewayServices,
  { proxies, routers, files, refused, writer }: AdmissionParts,
): Connections {
  const { config, metrics, memory, isLoopLate, fastShutdown, unreadyWhile } = services;
  const connections = new Connections({
    proxies,
    routers,
    maxConnectionsPerAddress: config.MAX_CONNECTIONS_PER_ADDRESS,
    pingIntervalMs: config.PING_INTERVAL_MS,
    admission: admissionLimits(services, files.connections),
    overload: { isMemoryShort: () => memory.isShort, isLoopLate },
    drainSpreadMs: config.DRAIN_SPREAD_MS,
    fastShutdown,
    writer,
    observer: { onOpen: refused.onOpened, onClose: refused.onClosed },
  });
  unreadyWhile('connections', () => connections.checkFull());
  unreadyWhile('memory', () => memory.isShort);
  memory.onPressure((bytes) => connections.relieve(bytes));
  observeConnections(metrics, connections);
  return connections;
}

/** Components that serve the operations of clients. */
interface ClientParts {
  readonly routers: Routers;
  readonly runtime: OperationRunner;
  readonly authenticator: Authenticator;
  readonly documents: DocumentQueue;
  readonly hub: Hub;
  readonly writer: Writer;
  readonly refused: RefusedClients;
}

/** What the connections of all transports share. */
export type ClientServices = ReturnType<typeof createClientServices>;

export function createClientServices(services: RoleServices, { refused, ...parts }: ClientParts) {
  const { graph, log, metrics } = services;
  const failures = new LogWindow(LOG_WINDOW_MS);
  const subscriptions = new SubscriptionTally(subscriptionFields(graph.current));
  graph.onServe((next) => subscriptions.replace(subscriptionFields(next)));
  observeSubscriptions(metrics, subscriptions);
  const counts = clientCounts(metrics);
  return {
    ...parts,
    subscriptions,
    log,
    refusalDelays: new RefusalDelays(),
    users: new Users(userLimits(services)),
    onRefusedUser: () => refused.onRefused('user'),
    onRefusedOperation: refused.onRefusedOperation,
    onSlowConsumer: () => counts.slowConsumers.inc(),
    onTokenExpired: () => counts.expiredTokens.inc(),
    onTokenRefreshed: () => counts.refreshedTokens.inc(),
    onFailure: (ended: 'operation' | 'connection', error: unknown, connection: string | undefined) => {
      counts.failures.inc({ ended });
      failures.run(ended, (suppressed) =>
        log.error({ err: error, connection, suppressed }, `an unexpected failure ended this ${ended}`),
      );
    },
    limits: connectionLimits(services),
  };
}

function subscriptionFields({ schema }: Graph): string[] {
  return Object.keys(schema.getSubscriptionType()?.getFields() ?? {});
}

/** Components of the WebSocket endpoint. */
interface GatewayParts {
  readonly httpServer: HttpServer;
  readonly handshakes: Handshakes;
  readonly proxies: TrustedProxies;
  readonly refusedOrigins: RefusedOrigins;
  readonly connections: Connections;
  readonly clients: ClientServices;
  readonly refused: RefusedClients;
  readonly locations: TokenLocations;
}

export function createGateway(
  services: GatewayServices,
  { clients, refused, locations, ...parts }: GatewayParts,
): WebSocketEndpoint {
  const { config, fastShutdown } = services;
  return new WebSocketEndpoint({
    ...parts,
    path: ENDPOINT,
    origins: { allowed: config.ALLOWED_ORIGINS, own: config.PUBLIC_ORIGIN },
    initTimeoutMs: config.INIT_TIMEOUT_MS,
    isTokenSubprotocol: locations.isSubprotocolRead,
    deflater: createDeflater(services),
    drainTimeoutMs: drainTimeoutMs(config),
    fastShutdown,
    services: clients,
    onRefused: refused.onRefused,
  });
}

/** Returns undefined if nothing is compressed. */
function createDeflater({ config, metrics }: RoleServices): Deflater | undefined {
  if (!config.COMPRESSION) return undefined;
  const deflater = new Deflater(config.COMPRESSION_MIN_BYTES);
  observeDeflater(metrics, deflater);
  return deflater;
}

/** Longest wait in ms for a connection to a router, and for its answer to a post. */
const POST_TIMEOUT_MS = 5000;
/** Time in ms in which a router may restart: a subscription whose posts all fail for so long ends. */
const POST_RETRY_FOR_MS = 15_000;

export interface Streams {
  readonly streams: HttpStreams;
  /** undefined: the protocol is off. */
  readonly callbacks: Callbacks | undefined;
}

/** The connections that HTTP requests open. */
export async function openStreams(
  { config, metrics, register }: RoleServices,
  { clients, connections, refused }: Pick<GatewayParts, 'clients' | 'connections' | 'refused'>,
): Promise<Streams> {
  const { onRefused } = refused;
  const parts = { ...clients, connections, onRefused };
  const streams = register(new HttpStreams({ ...parts, openTimeoutMs: config.INIT_TIMEOUT_MS }));
  const posts = callbackPosts(metrics);
  const options = {
    ...parts,
    prefixes: config.CALLBACK_URLS,
    timeoutMs: POST_TIMEOUT_MS,
    retryForMs: POST_RETRY_FOR_MS,
    onPosted: (result: PostResult) => posts.inc({ result }),
  };
  const callbacks =
    config.CALLBACK_URLS.length > 0
      ? register(new (await import('../gateway/callback/callbacks.ts')).Callbacks(options))
      : undefined;
  observeStreams(metrics, streams, callbacks);
  return { streams, callbacks };
}
