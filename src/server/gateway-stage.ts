import type { Server as HttpServer } from 'node:http';
import { connectionsRoute } from '../ops/debug/connections-route.ts';
import { operationsRoute } from '../ops/debug/operations-route.ts';
import { operationLookup } from '../ops/live/operation-lookup.ts';
import { DocumentQueue } from '../graph/documents/document-queue.ts';
import { observeQueue } from '../graph/documents/document-metrics.ts';
import { executionHistograms, observeExecutions } from '../graph/execution/execution-metrics.ts';
import { Executions } from '../graph/execution/executions.ts';
import type { GatewayGraphs } from './gateway-graphs.ts';
import { RefusedOrigins } from '../gateway/http/refused-origins.ts';
import { endServer, limitSockets, listen } from '../gateway/http/listening.ts';
import { Revocations } from '../gateway/identity/revocations.ts';
import { shareOf } from '../config/processes.ts';
import { finishMs } from '../config/shutdown-times.ts';
import { parseTokenLocations } from '../config/token-locations.ts';
import type { TokenLocations } from '../config/token-locations.ts';
import { Handshakes } from '../gateway/connections/handshakes.ts';
import { clientFiles } from '../gateway/connections/open-files.ts';
import { Arrivals } from '../gateway/fanout/arrivals.ts';
import type { ChannelObserver } from '../gateway/fanout/channel-services.ts';
import { channelObserver } from '../gateway/fanout/fanout-metrics.ts';
import { reloadOperations } from '../gateway/operations/reloading.ts';
import { openBackends } from './backends-stage.ts';
import { createClientServices, createConnections, createGateway, createRouters, openStreams } from './clients.ts';
import { createWriter, openHub } from './fanout.ts';
import { createReceiver } from './flow-receiver.ts';
import { drainGateway, drainTimeoutMs } from './gateway-drain.ts';
import { openGraphs } from './gateway-graphs.ts';
import { createTriggers } from './graph-runtime.ts';
import { createHttpServer } from './http-server.ts';
import { createAuthenticator } from './identity-stage.ts';
import { openPublishing } from './publishing-stage.ts';
import { openRevocation } from './revocation-stage.ts';
import { RefusedClients } from './refused-clients.ts';
import type { GatewayServices, RoleServices } from './services.ts';
import { createTrustedProxies } from './trusted-proxies.ts';

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

export interface StartedGateway {
  /** undefined: another program's server hands over its requests. */
  readonly port: number | undefined;
  readonly httpServer: HttpServer;
  /** Resolves when no operation of a client is being prepared, authorised or subscribed. */
  readonly settled: () => Promise<void>;
}

/**
 * Creates the gateway: HTTP, GraphiQL, streams and WebSockets over the bus's channels. Resolves once it listens.
 * @param isListening false: it serves the `request` and `upgrade` events that another program emits on its server
 */
export async function startGateway(services: GatewayServices, isListening = true): Promise<StartedGateway> {
  const { config, tunables, bus, graph, register, routes, live } = services;
  const arrivals = new Arrivals();
  await openWorkerWatch(services, arrivals);
  const channels = channelObserver(services.metrics, arrivals);
  const { executions, graphs } = await openExecution(services, channels);
  const { runtime, peekDocument } = graphs;
  const revocations = register(new Revocations());
  const locations = parseTokenLocations(config.JWT_LOCATIONS) as TokenLocations;
  const authenticator = await createAuthenticator(services, revocations, locations);
  const writer = createWriter(services);
  const backendSockets = config.backends.size * shareOf(tunables.values.BACKEND_MAX_SOCKETS, config);
  const [proxies, routers, files] = [
    createTrustedProxies(services),
    createRouters(services),
    clientFiles(backendSockets),
  ];
  const [refused, refusedOrigins] = [new RefusedClients(services), new RefusedOrigins(services.log, config.names)];
  const connections = createConnections(services, { proxies, routers, files, refused, writer });
  const receiver = createReceiver(services, writer, connections);
  const handshakes = new Handshakes();
  const hub = await openHub(services, { graphs, executions, writer, receiver, channels, handshakes });
  const documents = createDocumentQueue(services, arrivals);
  const clients = createClientServices(services, { runtime, authenticator, documents, hub, writer, refused, routers });
  const { streams, callbacks } = await openStreams(services, { clients, connections, refused });
  const { onRefused } = refused;
  const endpoint = { runtime, authenticator, documents, proxies, routers, refusedOrigins, onRefused };
  const httpServer = createHttpServer(services, endpoint, { streams, callbacks });
  handshakes.watch(httpServer);
  limitSockets(httpServer, files.sockets, () => onRefused('open_files'));
  const sockets = { httpServer, handshakes, proxies, refusedOrigins, connections, clients, refused, locations };
  const gateway = createGateway(services, sockets);
  await openRevocation(services, revocations, connections);
  const graceMs = () => (executions.mutationsInFlight > 0 ? drainTimeoutMs(config) : finishMs(config) / 8);
  register({ close: () => endServer(httpServer, graceMs()) });
  // Again: streams of this server must end before it waits for its replies.
  register({ close: () => live.close() });
  if (receiver) {
    const stop = bus.receive(receiver);
    // Closed after the sockets: until then the gateway serves events, and sets the pace of workers.
    register({ close: () => Promise.resolve(stop()) });
  }
  live.lookUp = operationLookup({
    tallies: executions.tallies,
    hub,
    peekDocument,
    channelPrefix: config.CHANNEL_PREFIX,
  });
  routes.set('/debug/operations', operationsRoute(executions.tallies));
  routes.set('/debug/connections', connectionsRoute(connections));
  // Last: live operations move to a graph that all parts serve.
  graph.onServe((next, former) => {
    const isAuthenticated = [former, next].some(({ context }) => context.authenticate !== undefined);
    if (isAuthenticated) streams.endWaiting();
    return reloadOperations(connections, isAuthenticated);
  });
  gateway.start();
  register({ close: () => drainGateway(gateway, httpServer, services) });
  const { HOST: host, PORT, names } = config;
  const port = isListening ? await listen(httpServer, { host, port: PORT, variable: 'PORT', names }) : undefined;
  return { port, httpServer, settled: () => connections.settled() };
}

/** Says whether workers publish for a gateway that is apart from them. */
async function openWorkerWatch(services: GatewayServices, arrivals: Arrivals): Promise<void> {
  const { config, graph, bus, log, metrics, details, register } = services;
  if (config.ROLE !== 'gateway' || graph.current.bindings.size === 0) return;
  const { WorkerWatch } = await import('./worker-watch.ts');
  const watch = register(
    new WorkerWatch({ bus, log, names: config.names, metrics, messages: () => arrivals.ofWorkers }),
  );
  watch.start();
  details['publishing_group'] = () => watch.group ?? null;
}

/** What runs operations. It is closed after the sockets: a drain answers mutations that are under way. */
async function openExecution(
  services: GatewayServices,
  channels: ChannelObserver,
): Promise<{ readonly executions: Executions; readonly graphs: GatewayGraphs }> {
  const { graph, metrics, tallies } = services;
  const histograms = executionHistograms(metrics, graph.current.schema);
  graph.onServe(({ schema }) => histograms.addFields(schema));
  const executions = new Executions(histograms, tallies);
  observeExecutions(metrics, executions);
  const publish = await openPublishing(services);
  const backends = await openBackends(services);
  const triggers = createTriggers(services, channels);
  return { executions, graphs: await openGraphs(services, { backends, publish, triggers, executions }) };
}

function createDocumentQueue({ metrics }: RoleServices, arrivals: Arrivals): DocumentQueue {
  const documents = new DocumentQueue({ ...DOCUMENT_QUEUE, hasEvents: () => arrivals.areFlowing });
  observeQueue(metrics, documents);
  return documents;
}
