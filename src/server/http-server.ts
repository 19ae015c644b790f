import { createServer } from 'node:http';
import type { Server as HttpServer } from 'node:http';
import type { Config } from '../config/config.ts';
import type { Graph } from '../graph/graph-parts.ts';
import type { EventSources } from '../graph/schema/event-source-type.ts';
import { eventSources } from '../graph/schema/event-sources.ts';
import { exampleOperation } from '../graph/schema/example-operation.ts';
import { Endpoint } from '../gateway/http/endpoint.ts';
import type { EndpointOptions } from '../gateway/http/endpoint.ts';
import type { Callbacks } from '../gateway/callback/callbacks.ts';
import type { HttpStreams } from '../gateway/streams/http-streams.ts';
import { createGraphiql } from '../gateway/http/graphiql.ts';
import type { GraphiqlHandler } from '../gateway/http/graphiql.ts';
import { createOverview } from '../gateway/http/overview.ts';
import { developmentLive } from '../ops/live/development-live.ts';
import { SLOW_CLIENT_LIMITS, closeAfterReplies } from '../gateway/http/listening.ts';
import { RequestAdmission } from '../gateway/http/request-admission.ts';
import { observeRequests } from '../gateway/http/request-metrics.ts';
import { asksForPage, isBodyShort } from '../gateway/http/request-head.ts';
import { shareOf } from '../config/processes.ts';
import { acceptsTokens } from '../config/token-keys.ts';
import type { GatewayServices } from './services.ts';

export const ENDPOINT = '/graphql';

export function createHttpServer(
  services: GatewayServices,
  parts: Pick<
    EndpointOptions,
    'runtime' | 'authenticator' | 'documents' | 'proxies' | 'routers' | 'refusedOrigins' | 'onRefused'
  >,
  { streams, callbacks }: { readonly streams: HttpStreams; readonly callbacks: Callbacks | undefined },
): HttpServer {
  const { config, log, draining } = services;
  const endpoint = new Endpoint({
    ...parts,
    streams,
    callbacks,
    admission: createAdmission(services),
    origins: { allowed: config.ALLOWED_ORIGINS, own: config.PUBLIC_ORIGIN },
    maxBodyBytes: config.MAX_MESSAGE_BYTES,
    executionTimeoutMs: config.EXECUTION_TIMEOUT_MS,
    log,
  });
  const pages = openPages(services);
  const page = config.GRAPHIQL ? ', GraphiQL at /' : '';
  const nothingHere = `Nothing here; GraphQL is at ${ENDPOINT}${page}; health and metrics are on ${config.names.ADMIN_PORT}\n`;
  const limits = { ...SLOW_CLIENT_LIMITS, keepAliveTimeout: config.KEEP_ALIVE_TIMEOUT_MS };
  const server = createServer(limits, (request, response) => {
    if (streams.has(request.socket)) return void request.socket.destroy();
    if (request.url?.split('?', 1)[0] === ENDPOINT) {
      // Relative, as the URLs of the page: a proxy may serve both under a path.
      if (!config.GRAPHIQL || !asksForPage(request)) return void endpoint.receive(request, response);
      return void response.writeHead(302, { location: './', vary: 'accept' }).end();
    }
    if (!isBodyShort(request, 0)) response.setHeader('connection', 'close');
    if (pages(request, response)) return;
    response.writeHead(404, { 'content-type': 'text/plain' }).end(nothingHere);
  });
  // A handler that reads the body asks for it; a refused request sends none.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  closeAfterReplies(server, draining);
  return server;
}

/** GraphiQL for browsers, and a text for every other client, of the graph that is served; in development the dashboard, too. */
function openPages({ config, graph, live }: GatewayServices): GraphiqlHandler {
  const hasLive = config.GRAPHIQL && !config.isProduction;
  const dashboard: GraphiqlHandler = hasLive ? developmentLive(live.routes, config.ADMIN_TOKEN) : () => false;
  const pagesOf = (of: Graph): GraphiqlHandler => {
    const operation = exampleOperation(of);
    const sourcesOf = (): EventSources => ({ fields: eventSources(of), records: recordsOf(config, of) });
    const graphiql = config.GRAPHIQL
      ? createGraphiql({ operation, title: of.name, sources: sourcesOf(), hasLive })
      : () => false;
    const overview = createOverview({
      endpoint: ENDPOINT,
      origin: config.PUBLIC_ORIGIN,
      graph: config.GRAPHIQL ? { name: of.name, operation } : undefined,
      hasLive,
    });
    return (request, response) => graphiql(request, response) || overview(request, response);
  };
  const pages = graph.derive(pagesOf(graph.current), { open: pagesOf });
  return (request, response) => dashboard(request, response) || pages.current(request, response);
}

const OWN_BROKER = /^(?:localhost|127(?:\.\d+){3}|\[::1\]):\d+$/;

/** Who writes the records of the graph's topics. Addresses of other machines are nobody's business, and a developer reaches them by others. */
function recordsOf(config: Config, { samples }: Graph): EventSources['records'] {
  const { isEmbedded, SAMPLE_INTERVAL_MS: sampleIntervalMs, KAFKA_BROKERS: brokers } = config;
  if (isEmbedded) return samples ? { sampleIntervalMs } : 'nobody';
  const isSecured = config.KAFKA_TLS || config.KAFKA_SASL_MECHANISM !== '';
  return { brokers: !isSecured && brokers.every((one) => OWN_BROKER.test(one)) ? brokers : [] };
}

function createAdmission({ config, memory, metrics }: GatewayServices): RequestAdmission {
  const maxInFlight = shareOf(config.MAX_REQUESTS_IN_FLIGHT, config);
  const admission = new RequestAdmission(
    {
      maxInFlight,
      maxInFlightWithoutUser: acceptsTokens(config) ? Math.ceil(maxInFlight / 2) : 0,
      user: {
        maxInFlight: config.MAX_REQUESTS_IN_FLIGHT_PER_USER,
        maxPerSecond: config.MAX_REQUESTS_PER_SECOND_PER_USER,
      },
      address: {
        maxInFlight: config.MAX_REQUESTS_IN_FLIGHT_PER_ADDRESS,
        maxPerSecond: config.MAX_REQUESTS_PER_SECOND_PER_ADDRESS,
      },
    },
    () => memory.isShort,
  );
  observeRequests(metrics, admission);
  return admission;
}
