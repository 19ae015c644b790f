import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { Server as HttpServer } from 'node:http';
import { hostname } from 'node:os';
import { topicOf } from '../bus/channel.ts';
import { Backends } from '../context/backends.ts';
import type { BackendAnswer } from '../context/backends.ts';
import { SampleBackends } from '../embedded/sample-backends.ts';
import { CursorSecret } from '../fanout/resume/cursor-secret.ts';
import { Hub } from '../fanout/hub.ts';
import { SharingAudit } from '../fanout/sharing/sharing-audit.ts';
import { Writer } from '../fanout/outbox/writer.ts';
import { Receiver } from '../flow/receiver.ts';
import { CompileQueue } from '../graph/execution/compile-queue.ts';
import { DocumentCache } from '../graph/documents/document-cache.ts';
import { DocumentQueue } from '../graph/documents/document-queue.ts';
import { exampleOperation } from '../graph/schema/example-operation.ts';
import { Executor } from '../graph/execution/executor.ts';
import { GraphRuntime } from '../graph/runtime.ts';
import { createEndpoint } from '../http/endpoint.ts';
import { createGraphiql } from '../http/graphiql.ts';
import { endServer, listen } from '../http/listening.ts';
import { LogWindow } from '../log.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { Gateway } from '../websocket/gateway.ts';
import { closeLabel } from '../websocket/protocol.ts';
import type { RoleServices } from './services.ts';

const ENDPOINT = '/graphql';
const LOG_WINDOW_MS = 10_000;

/**
 * A burst is 100 documents of 20 ms, which a client subscribes again at once after a reconnect; then a connection gets a
 * twentieth of a core. All together get three tenths while events flow: 4,000 clients that come back with a document of 0.5 ms each are
 * served in 7 s.
 */
const DOCUMENT_QUEUE = {
  sliceMs: 1,
  totalShare: 0.3,
  maxBytes: 32 * 1024 * 1024,
  maxWaitMs: 10_000,
  burstMs: 2000,
  share: 0.05,
};

/** For how long after an event others are expected. */
const EVENTS_FLOW_MS = 1000;

/** The clients' half: HTTP, GraphiQL and WebSockets over the bus's channels. Resolves with its port once it listens. */
export async function startGateway(services: RoleServices): Promise<number> {
  const { config, bus, log, metrics, register } = services;
  const runtime = createRuntime(services, await openBackends(services));
  const writer = new Writer({
    maxQueueBytes: config.MAX_QUEUE_BYTES,
    maxPodQueueBytes: config.MAX_POD_QUEUE_BYTES,
  });
  const secret = register(new CursorSecret({ configured: config.CURSOR_SECRET, bus }));
  await secret.start();
  const audit = createAudit(services, runtime);
  const receiver = createReceiver(services, writer, () => gateway.connectionCount);
  let lastEventAt = -Infinity;
  const hub = new Hub({
    bus,
    cursors: () => secret.cursors,
    executor: runtime,
    audit,
    log,
    observer: {
      onEvent: () => {
        lastEventAt = performance.now();
        metrics.events.inc();
      },
      onExecution: () => metrics.executions.inc(),
      onUnrecognisedMessage: () => metrics.foreignMessages.inc(),
      onStale: () => metrics.staleMessages.inc(),
      onGap: (operations) => metrics.gaps.inc(operations),
      onResume: (isResumed) => metrics.resumes.inc({ resumed: String(isResumed) }),
    },
    writer,
    executionTimeoutMs: config.EXECUTION_TIMEOUT_MS,
    flow: receiver && {
      intake: (channel, partition) => receiver.intake(topicOf(channel, config.CHANNEL_PREFIX), partition),
      load: () => receiver.load(),
    },
  });
  metrics.gauge('crier_channels', 'Channels this pod is subscribed to.', () => hub.channelCount);
  metrics.gauge('crier_held_bytes', 'Bytes of events that wait for replays and backfills.', () => hub.heldBytes);
  metrics.gauge('crier_queue_bytes', 'Bytes of messages that wait for slow sockets.', () => writer.backpressuredBytes);
  const documents = new DocumentQueue({
    ...DOCUMENT_QUEUE,
    hasEvents: () => performance.now() - lastEventAt < EVENTS_FLOW_MS,
  });
  metrics.gauge('crier_documents_waiting', 'Documents that wait to be parsed and validated.', () => documents.size);
  metrics.total(
    'crier_documents_refused_total',
    'Documents answered with OVERLOADED instead of parsed.',
    () => documents.refused,
  );
  const httpServer = createHttpServer(services, runtime, documents);
  const failures = new LogWindow(LOG_WINDOW_MS);
  const gateway = new Gateway({
    httpServer,
    path: ENDPOINT,
    allowedOrigins: config.ALLOWED_ORIGINS,
    initTimeoutMs: config.INIT_TIMEOUT_MS,
    pingIntervalMs: config.PING_INTERVAL_MS,
    maxMessageBytes: config.MAX_MESSAGE_BYTES,
    drainTimeoutMs: config.SHUTDOWN_TIMEOUT_MS / 4,
    connections: {
      runtime,
      documents,
      hub,
      writer,
      log,
      onSlowConsumer: () => metrics.slowConsumers.inc(),
      onFailure: (ended, error, connection) => {
        metrics.failures.inc({ ended });
        failures.run(ended, (suppressed) =>
          log.error({ err: error, connection, suppressed }, `an unexpected failure ended this ${ended}`),
        );
      },
      limits: {
        maxOperations: config.MAX_OPERATIONS_PER_CONNECTION,
        maxIdBytes: config.MAX_OPERATION_ID_BYTES,
        maxMessagesPerSecond: config.MAX_MESSAGES_PER_SECOND,
        maxMessageBurst: config.MAX_MESSAGE_BURST,
        maxPendingEvents: config.MAX_PENDING_EVENTS,
        maxHeldBytes: config.MAX_CONNECTION_BYTES,
      },
    },
    observer: {
      onOpen: () => metrics.connectionsOpened.inc(),
      onClose: (code) => metrics.connectionsClosed.inc({ code: closeLabel(code) }),
      onRefusedOrigin: () => metrics.originsRefused.inc(),
    },
  });
  metrics.gauge('crier_connections', 'WebSockets open now.', () => gateway.connectionCount);
  metrics.gauge('crier_operations', 'Operations live now.', () => gateway.operationCount);
  register({ close: () => endServer(httpServer, config.SHUTDOWN_TIMEOUT_MS / 8) });
  register(gateway).start();
  if (receiver) {
    const stop = bus.receive(receiver);
    // Closed before the sockets: no worker waits for a gateway that drains.
    register({ close: () => Promise.resolve(stop()) });
  }
  return listen(httpServer, { host: config.HOST, port: config.PORT, variable: 'PORT' });
}

/** undefined: flow control is off. */
function createReceiver(
  { config, metrics }: RoleServices,
  writer: Writer,
  sockets: () => number,
): Receiver | undefined {
  if (config.FLOW_TARGET_MS === 0) return undefined;
  const receiver = new Receiver({
    gateway: `${hostname()}-${randomBytes(3).toString('hex')}`,
    targetMs: config.FLOW_TARGET_MS,
    maxBytes: config.FLOW_TARGET_BYTES,
    maxExecuting: config.MAX_PENDING_EVENTS / 2,
    sockets,
    fill: () => writer.fillOf(sockets()),
  });
  metrics.gauge(
    'crier_flow_waiting_bytes',
    'Bytes of events that have reached this gateway and are not served yet.',
    () => receiver.waiting,
  );
  return receiver;
}

/** The graph's backends; in the embedded mode those without a URL answer from the samples. */
async function openBackends({ config, graph, log, metrics, register }: RoleServices): Promise<Backends> {
  const names = graph.context.backends ?? [];
  const samples = config.isEmbedded ? graph.samples : undefined;
  const sampled = samples?.respond
    ? await register(new SampleBackends({ names, respond: samples.respond.bind(samples), log })).start()
    : [];
  return register(
    new Backends({
      backends: new Map([...sampled, ...config.backends]),
      maxSockets: config.BACKEND_MAX_SOCKETS,
      timeoutMs: config.BACKEND_TIMEOUT_MS,
      onAnswer: backendReporter(log, metrics),
    }),
  );
}

/** Counts each answer of a backend, and logs failures: a line for each backend, outcome and window. */
function backendReporter(log: Logger, metrics: Metrics): (answer: BackendAnswer) => void {
  const window = new LogWindow(LOG_WINDOW_MS);
  return (answer) => {
    const { backend, outcome } = answer;
    metrics.backendRequests.inc({ backend, outcome });
    if (outcome === 'OK') return;
    window.run(`${backend} ${outcome}`, (suppressed) =>
      log.warn({ ...answer, suppressed }, 'a backend request failed'),
    );
  };
}

function createRuntime({ config, graph, log, metrics }: RoleServices, backends: Backends): GraphRuntime {
  const documents = new DocumentCache(graph.schema, {
    maxLength: config.MAX_QUERY_LENGTH,
    maxTokens: config.MAX_QUERY_TOKENS,
    maxDepth: config.MAX_QUERY_DEPTH,
    maxAliases: config.MAX_QUERY_ALIASES,
    maxDirectives: config.MAX_QUERY_DIRECTIVES,
    hasIntrospection: config.INTROSPECTION,
    maxEntries: config.DOCUMENT_CACHE_ENTRIES,
    maxBytes: config.DOCUMENT_CACHE_BYTES,
    maxInvalidEntries: config.INVALID_DOCUMENT_CACHE_ENTRIES,
    onLookup: (result) => metrics.documents.inc({ result }),
  });
  metrics.gauge('crier_documents_cached', 'Valid documents in the cache.', () => documents.size);
  return new GraphRuntime({
    graph,
    documents,
    executor: new Executor(graph.schema, {
      jitAfterUses: config.JIT_AFTER_USES,
      hasProjection: config.PROJECTION,
      onCompile: (outcome) => metrics.compilations.inc({ outcome }),
      compileLater: new CompileQueue().add,
    }),
    backends,
    channelPrefix: config.CHANNEL_PREFIX,
    authenticationTimeoutMs: config.AUTHENTICATION_TIMEOUT_MS,
    log,
    onInternalError: () => metrics.internalErrors.inc(),
  });
}

/** undefined: no result is audited. */
function createAudit({ config, log, metrics }: RoleServices, runtime: GraphRuntime): SharingAudit | undefined {
  if (config.SHARING_AUDIT === 0) return undefined;
  return new SharingAudit({
    share: config.SHARING_AUDIT,
    resolverPaths: (operation) => runtime.resolverPaths(operation),
    log,
    onOutcome: (outcome) => metrics.sharingAudit.inc({ outcome }),
  });
}

function createHttpServer(
  { config, graph, log }: RoleServices,
  runtime: GraphRuntime,
  documents: DocumentQueue,
): HttpServer {
  const endpoint = createEndpoint({
    runtime,
    documents,
    allowedOrigins: config.ALLOWED_ORIGINS,
    maxBodyBytes: config.MAX_MESSAGE_BYTES,
    log,
  });
  const graphiql = config.GRAPHIQL
    ? createGraphiql({ operation: exampleOperation(graph), title: graph.name })
    : () => false;
  // Slow headers and bodies must not hold sockets; ws takes the socket out of these limits at the upgrade.
  const limits = { headersTimeout: 10_000, requestTimeout: 15_000, connectionsCheckingInterval: 5_000 };
  return createServer(limits, (request, response) => {
    if (request.url?.split('?', 1)[0] === ENDPOINT) return void endpoint(request, response);
    if (graphiql(request, response)) return;
    const text = `Nothing here; GraphQL is at ${ENDPOINT}${config.GRAPHIQL ? ', GraphiQL at /' : ''}\n`;
    response.writeHead(404, { 'content-type': 'text/plain' }).end(text);
  });
}
