import type { Server as HttpServer } from 'node:http';
import { topicOf } from '../bus/channel.ts';
import { connectionsRoute } from '../ops/debug/connections-route.ts';
import { operationsRoute } from '../ops/debug/operations-route.ts';
import { GAP_REASONS } from '../gateway/fanout/channel-services.ts';
import { Hub } from '../gateway/fanout/hub.ts';
import { Deflater } from '../gateway/fanout/outbox/deflater.ts';
import { Writer } from '../gateway/fanout/outbox/writer.ts';
import { CursorSecret } from '../gateway/fanout/resume/cursor-secret.ts';
import type { StateCompleteness } from '../gateway/fanout/state-completeness.ts';
import type { Receiver } from '../bus/flow/receiver.ts';
import type { OperationTallies } from '../graph/documents/operation-tallies.ts';
import { DocumentQueue } from '../graph/documents/document-queue.ts';
import type { Executions } from '../graph/execution/executions.ts';
import type { Graph } from '../graph/graph.ts';
import type { OperationRunner } from '../graph/served-graphs.ts';
import type { TrustedProxies } from '../config/addresses/client-address.ts';
import { HttpStreams } from '../gateway/streams/http-streams.ts';
import { RefusedOrigins } from '../gateway/http/refused-origins.ts';
import { endServer, limitSockets, listen } from '../gateway/http/listening.ts';
import type { Authenticator } from '../gateway/identity/authenticator.ts';
import { RefusalDelays } from '../gateway/identity/refusal-delays.ts';
import { Revocations } from '../gateway/identity/revocations.ts';
import { PRODUCE_TIMEOUT_MS } from '../kafka/produce-outcome.ts';
import { LogWindow } from '../base/log.ts';
import { shareOf } from '../config/processes.ts';
import { finishMs } from '../config/shutdown-times.ts';
import { Handshakes } from '../gateway/connections/handshakes.ts';
import { clientFiles } from '../gateway/connections/open-files.ts';
import type { ClientFiles } from '../gateway/connections/open-files.ts';
import type { EventTraces } from '../ops/tracing/event-traces.ts';
import { Gateway } from '../gateway/websocket/gateway.ts';
import { reloadOperations } from '../gateway/operations/reloading.ts';
import { SubscriptionTally } from '../gateway/operations/subscription-tally.ts';
import { Users } from '../gateway/connections/users.ts';
import { openBackends } from './backends.ts';
import { countDeliveries, deliveryObservations } from './delivery-metrics.ts';
import { createExecutions } from './execution-metrics.ts';
import { createReceiver } from './flow-receiver.ts';
import { openGraphs } from './gateway-graphs.ts';
import { createAudit, createTriggers } from './graph-runtime.ts';
import { ENDPOINT, createHttpServer } from './http-server.ts';
import { createAuthenticator } from './identity.ts';
import { openPublishing } from './publishing.ts';
import { openRevocation } from './revocation.ts';
import { RefusedClients } from './refused-clients.ts';
import type { GatewayServices, RoleServices } from './services.ts';
import { createTrustedProxies } from './trusted-proxies.ts';

const LOG_WINDOW_MS = 10_000;
/** Longest wait for mutations and close frames: a second more than a published record takes at most, so that its mutation is answered. */
const DRAIN_TIMEOUT_MS = PRODUCE_TIMEOUT_MS + 1000;

/**
 * A burst is 100 documents of 20 ms, which a client subscribes again at once after a reconnect; then a connection gets a twentieth of a core.
 * All together get three tenths while events flow: 4,000 clients that reconnect with a document of 0.5 ms each are served in 7 s.
 */
const DOCUMENT_QUEUE = {
  sliceMs: 1,
  totalShare: 0.3,
  maxBytes: 32 * 1024 * 1024,
  maxWaitMs: 10_000,
  burstMs: 2000,
  share: 0.05,
};

/** Time in ms after an event for which further events are expected. */
const EVENTS_FLOW_MS = 1000;

/** Components that serve the WebSockets. */
interface GatewayParts {
  readonly httpServer: HttpServer;
  readonly files: ClientFiles;
  readonly proxies: TrustedProxies;
  readonly refusedOrigins: RefusedOrigins;
  readonly refused: RefusedClients;
  readonly runtime: OperationRunner;
  readonly authenticator: Authenticator;
  readonly documents: DocumentQueue;
  readonly hub: Hub;
  readonly writer: Writer;
  readonly handshakes: Handshakes;
}

export interface StartedGateway {
  /** undefined: another program's server hands over its requests. */
  readonly port: number | undefined;
  readonly httpServer: HttpServer;
  readonly tallies: OperationTallies;
  /** Messages of workers that have reached its subscriptions. */
  readonly workerMessages: () => number;
  /** Resolves when no operation of a client is being prepared, authorised or subscribed. */
  readonly settled: () => Promise<void>;
}

/**
 * Creates the gateway: HTTP, GraphiQL, streams and WebSockets over the bus's channels. Resolves once it listens.
 * @param isListening false: it serves the `request` and `upgrade` events that another program emits on its server
 */
export async function startGateway(services: GatewayServices, isListening = true): Promise<StartedGateway> {
  const { config, bus, register, tracing } = services;
  const executions = createExecutions(services);
  // Closed after the sockets: a drain answers mutations that are under way.
  const publish = await openPublishing(services);
  const ports = { backends: await openBackends(services), publish, triggers: createTriggers(services), executions };
  const { runtime, isStateComplete } = await openGraphs(services, ports);
  const revocations = register(new Revocations());
  const authenticator = await createAuthenticator(services, revocations);
  const writer = createWriter(services);
  const traces = tracing && (await import('./traces.ts')).createEventTraces(tracing, config, writer);
  const secret = register(new CursorSecret({ configured: config.CURSOR_SECRET, bus }));
  await secret.start();
  const receiver = createReceiver(services, writer, () => gateway.connections.size);
  let lastEventAt = -Infinity;
  const handshakes = new Handshakes();
  let workerMessages = 0;
  const onEvent = (isOfWorker: boolean) => {
    lastEventAt = performance.now();
    if (isOfWorker) workerMessages++;
  };
  const hub = createHub(services, {
    runtime,
    executions,
    writer,
    secret,
    receiver,
    onEvent,
    isStateComplete,
    handshakes,
    traces,
  });
  const documents = createDocumentQueue(services, () => performance.now() - lastEventAt < EVENTS_FLOW_MS);
  const proxies = createTrustedProxies(services);
  const refusedOrigins = new RefusedOrigins(services.log);
  const refused = new RefusedClients(services);
  const endpoint = { runtime, authenticator, documents, proxies, refusedOrigins };
  const httpServer = createHttpServer(services, { ...endpoint, onRefused: refused.onRefused }, () => streams);
  handshakes.watch(httpServer);
  const files = clientFiles();
  limitSockets(httpServer, files.sockets, () => refused.onRefused('open_files'));
  const { gateway, streams } = createGateway(services, {
    ...endpoint,
    httpServer,
    files,
    refused,
    hub,
    writer,
    handshakes,
  });
  await openRevocation(services, revocations, () => gateway.connections);
  const graceMs = () => (executions.mutationsInFlight > 0 ? drainTimeoutMs(config) : finishMs(config) / 8);
  register({ close: () => endServer(httpServer, graceMs()) });
  // Again: streams of this server must end before it waits for its replies.
  register({ close: () => services.live.close() });
  if (receiver) {
    const stop = bus.receive(receiver);
    // Closed after the sockets: until then the gateway serves events, and sets the pace of workers.
    register({ close: () => Promise.resolve(stop()) });
  }
  services.routes.set('/debug/operations', operationsRoute(executions.tallies));
  services.routes.set(
    '/debug/connections',
    connectionsRoute(() => gateway.connections),
  );
  // Last: live operations move to a graph that all parts serve.
  services.graph.onServe((next, former) => {
    const isAuthenticated = [former, next].some(({ context }) => context.authenticate !== undefined);
    if (isAuthenticated) streams.endWaiting();
    return reloadOperations(gateway.connections, isAuthenticated);
  });
  gateway.start();
  register({ close: () => drainGateway(gateway, httpServer, services) });
  const { HOST: host, PORT } = config;
  const port = isListening ? await listen(httpServer, { host, port: PORT, variable: 'PORT' }) : undefined;
  return {
    port,
    httpServer,
    tallies: executions.tallies,
    workerMessages: () => workerMessages,
    settled: () => gateway.connections.settled(),
  };
}

/** Longest wait, in ms, for mutations that are under way, and for close frames of clients. */
function drainTimeoutMs(config: RoleServices['config']): number {
  return Math.min(DRAIN_TIMEOUT_MS, finishMs(config) * 0.4);
}

async function drainGateway(gateway: Gateway, { listening }: HttpServer, { log }: RoleServices): Promise<void> {
  const sockets = gateway.connections.size;
  const startedAt = performance.now();
  const summary = await gateway.close();
  if (listening)
    log.info({ sockets, ...summary, durationMs: Math.round(performance.now() - startedAt) }, 'sockets drained');
}

function createWriter({ config, tunables, metrics }: RoleServices): Writer {
  const writer = new Writer({
    maxQueueBytes: config.MAX_QUEUE_BYTES,
    maxPodQueueBytes: shareOf(config.MAX_POD_QUEUE_BYTES, config),
    hasBatching: config.WRITE_BATCHING,
    observations: deliveryObservations(metrics),
  });
  countDeliveries(writer, metrics);
  tunables.bind('MAX_QUEUE_BYTES', (bytes) => (writer.maxQueueBytes = bytes));
  tunables.bind('MAX_POD_QUEUE_BYTES', (bytes) => (writer.maxPodQueueBytes = shareOf(bytes, config)));
  metrics.gauge('crier_queue_bytes', 'Bytes of messages that wait for slow sockets.', () => writer.backpressuredBytes);
  metrics.gauge('crier_queue_bytes_max', 'Bytes of the largest of these queues.', () => writer.largestQueueBytes);
  return writer;
}

/** Returns undefined if nothing is compressed. */
function createDeflater({ config, metrics }: RoleServices): Deflater | undefined {
  if (!config.COMPRESSION) return undefined;
  const deflater = new Deflater(config.COMPRESSION_MIN_BYTES);
  metrics.total(
    'crier_compression_input_bytes_total',
    'Bytes of the results that were compressed, each counted once however many connections receive it.',
    () => deflater.inputBytes,
  );
  metrics.total(
    'crier_compression_output_bytes_total',
    'Bytes that these results have compressed.',
    () => deflater.outputBytes,
  );
  return deflater;
}

/** Components that the hub uses. */
interface HubParts {
  readonly runtime: OperationRunner;
  readonly executions: Executions;
  readonly writer: Writer;
  readonly secret: CursorSecret;
  readonly receiver: Receiver | undefined;
  readonly onEvent: (isOfWorker: boolean) => void;
  readonly isStateComplete: StateCompleteness['isComplete'];
  readonly handshakes: Handshakes;
  /** undefined: nothing is traced. */
  readonly traces: EventTraces | undefined;
}

function createHub(services: RoleServices, parts: HubParts): Hub {
  const { runtime, executions, writer, secret, receiver, onEvent, isStateComplete, handshakes, traces } = parts;
  const { bus, config, tunables, log, metrics } = services;
  // A rate needs a value before the first gap.
  for (const reason of GAP_REASONS) metrics.gaps.inc({ reason }, 0);
  let maxExecutions = 0;
  tunables.bind('MAX_EXECUTIONS', (executions) => (maxExecutions = shareOf(executions, config)));
  const hub = new Hub({
    bus,
    executor: runtime,
    executions,
    audit: createAudit(services, runtime),
    cursors: () => secret.cursors,
    log,
    observer: {
      onEvent: (isOfWorker) => {
        onEvent(isOfWorker);
        metrics.events.inc();
      },
      onUnrecognisedMessage: () => metrics.unrecognisedMessages.inc(),
      onStale: () => metrics.staleMessages.inc(),
      onGap: (operations, reason) => metrics.gaps.inc({ reason }, operations),
      onResume: (outcome) => metrics.resumes.inc({ outcome }),
    },
    writer,
    executionTimeoutMs: config.EXECUTION_TIMEOUT_MS,
    maxExecutions: () => maxExecutions,
    maxMessageBytes: config.MAX_RECORD_BYTES,
    flow: receiver && {
      intake: (channel, partition) => receiver.intake(topicOf(channel, config.CHANNEL_PREFIX), partition),
      load: () => receiver.load(),
    },
    traces,
    isStateComplete,
    connecting: handshakes,
  });
  metrics.gauge(
    'crier_executions_waiting',
    'Executions of events that wait because MAX_EXECUTIONS are in flight.',
    () => hub.executions.waiting,
  );
  metrics.gauge('crier_channels', 'Channels this pod is subscribed to.', () => hub.channelCount);
  metrics.gauge('crier_held_bytes', 'Bytes of events that wait for replays and backfills.', () => hub.heldBytes);
  return hub;
}

function createDocumentQueue({ metrics }: RoleServices, hasEvents: () => boolean): DocumentQueue {
  const documents = new DocumentQueue({ ...DOCUMENT_QUEUE, hasEvents });
  metrics.gauge('crier_documents_waiting', 'Documents that wait to be parsed and validated.', () => documents.size);
  metrics.total(
    'crier_documents_refused_total',
    'Documents answered with OVERLOADED instead of parsed.',
    () => documents.refused,
  );
  return documents;
}

function createGateway(services: GatewayServices, given: GatewayParts) {
  const { httpServer, files, proxies, refusedOrigins, refused, handshakes, ...parts } = given;
  const { onRefused } = refused;
  const { config, tunables, graph, log, metrics, memory, isLoopLate, hurry, unreadyWhile } = services;
  const failures = new LogWindow(LOG_WINDOW_MS);
  const subscriptions = new SubscriptionTally(subscriptionFields(graph.current));
  graph.onServe((next) => subscriptions.replace(subscriptionFields(next)));
  const limits = {
    maxOperations: config.MAX_OPERATIONS_PER_CONNECTION,
    maxIdBytes: config.MAX_OPERATION_ID_BYTES,
    maxInitBytes: config.MAX_INIT_BYTES,
    maxMessageBytes: config.MAX_MESSAGE_BYTES,
    maxMessagesPerSecond: config.MAX_MESSAGES_PER_SECOND,
    maxMessageBurst: config.MAX_MESSAGE_BURST,
    maxPendingEvents: config.MAX_PENDING_EVENTS,
    maxHeldBytes: config.MAX_CONNECTION_BYTES,
    executionTimeoutMs: config.EXECUTION_TIMEOUT_MS,
    maxAgeMs: config.MAX_CONNECTION_AGE_MS,
  };
  tunables.bind('MAX_OPERATIONS_PER_CONNECTION', (operations) => (limits.maxOperations = operations));
  const admission = {
    maxConnections: 0,
    maxOpenFiles: files.connections,
    maxHandshakesPerSecond: 0,
    maxHandshakeBurst: shareOf(config.MAX_HANDSHAKE_BURST, config),
  };
  tunables.bind('MAX_CONNECTIONS', (connections) => {
    admission.maxConnections = shareOf(connections, config);
    if (admission.maxConnections > files.connections)
      log.warn({ setting: 'MAX_CONNECTIONS', sockets: files.connections }, MORE_THAN_FILES);
  });
  tunables.bind('MAX_HANDSHAKES_PER_SECOND', (handshakes) => {
    admission.maxHandshakesPerSecond = shareOf(handshakes, config);
  });
  const connections = {
    ...parts,
    subscriptions,
    log,
    refusalDelays: new RefusalDelays(),
    users: new Users({
      maxConnections: config.MAX_CONNECTIONS_PER_USER,
      maxOperations: config.MAX_OPERATIONS_PER_USER,
    }),
    onRefusedUser: () => onRefused('user'),
    onRefusedOperation: refused.onRefusedOperation,
    onSlowConsumer: () => metrics.slowConsumers.inc(),
    onTokenExpired: () => metrics.expiredTokens.inc(),
    onTokenRefreshed: () => metrics.refreshedTokens.inc(),
    onFailure: (ended: 'operation' | 'connection', error: unknown, connection: string | undefined) => {
      metrics.failures.inc({ ended });
      failures.run(ended, (suppressed) =>
        log.error({ err: error, connection, suppressed }, `an unexpected failure ended this ${ended}`),
      );
    },
    limits,
  };
  const gateway = new Gateway({
    httpServer,
    handshakes,
    path: ENDPOINT,
    proxies,
    refusedOrigins,
    maxConnectionsPerAddress: config.MAX_CONNECTIONS_PER_ADDRESS,
    origins: { allowed: config.ALLOWED_ORIGINS, own: config.PUBLIC_ORIGIN },
    initTimeoutMs: config.INIT_TIMEOUT_MS,
    pingIntervalMs: config.PING_INTERVAL_MS,
    deflater: createDeflater(services),
    admission,
    overload: { isMemoryShort: () => memory.isShort, isLoopLate },
    drainSpreadMs: config.DRAIN_SPREAD_MS,
    drainTimeoutMs: drainTimeoutMs(config),
    hurry,
    connections,
    observer: {
      onOpen: () => metrics.connectionsOpened.inc(),
      onClose: refused.onClosed,
      onRefused,
    },
  });
  const streams = services.register(
    new HttpStreams({
      ...connections,
      connections: gateway.connections,
      openTimeoutMs: config.INIT_TIMEOUT_MS,
      onRefused,
    }),
  );
  unreadyWhile('connections', () => gateway.connections.checkFull());
  unreadyWhile('memory', () => memory.isShort);
  memory.relieve = (bytes) => gateway.connections.relieve(bytes);
  metrics.total(
    'crier_memory_guard_connections_closed_total',
    'WebSockets closed because memory was very short and they held the most.',
    () => gateway.connections.discardedCount,
  );
  metrics.total(
    'crier_drain_connections_closed_total',
    'WebSockets that the drain of this pod has closed.',
    () => gateway.connections.drainedCount,
  );
  metrics.gauge('crier_connections', 'WebSockets and streams open now.', () => gateway.connections.size);
  metrics.gauges('crier_streams', 'Of these, streams over HTTP, by transport.', ['transport'], () =>
    (['sse', 'multipart'] as const).map((transport) => ({ labels: { transport }, value: streams.countOf(transport) })),
  );
  metrics.gauge('crier_operations', 'Operations live now.', () => gateway.connections.operationCount);
  metrics.gauges('crier_subscriptions', 'Subscriptions live now, by field.', ['field'], () =>
    Array.from(subscriptions.counts, ([field, value]) => ({ labels: { field }, value })),
  );
  return { gateway, streams };
}

const MORE_THAN_FILES =
  'MAX_CONNECTIONS is more than this process may have open files for; raise the limit of open files (ulimit -n)';

function subscriptionFields({ schema }: Graph): string[] {
  return Object.keys(schema.getSubscriptionType()?.getFields() ?? {});
}
