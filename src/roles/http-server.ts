import { createServer } from 'node:http';
import type { Server as HttpServer } from 'node:http';
import { exampleOperation } from '../graph/schema/example-operation.ts';
import { createEndpoint } from '../http/endpoint.ts';
import type { EndpointOptions } from '../http/endpoint.ts';
import { createGraphiql } from '../http/graphiql.ts';
import { closeAfterReplies } from '../http/listening.ts';
import type { GatewayServices } from './services.ts';

export const ENDPOINT = '/graphql';

export function createHttpServer(
  { config, graph, log, metrics, draining }: GatewayServices,
  parts: Pick<EndpointOptions, 'runtime' | 'authenticator' | 'documents' | 'proxies'>,
): HttpServer {
  const endpoint = createEndpoint({
    ...parts,
    origins: { allowed: config.ALLOWED_ORIGINS, own: config.PUBLIC_ORIGIN },
    corsHeaders: config.ALLOWED_HEADERS.map((name) => name.toLowerCase()),
    maxBodyBytes: config.MAX_MESSAGE_BYTES,
    log,
    onRefusedOrigin: (reason) => metrics.refusals.inc({ reason }),
  });
  const graphiql = config.GRAPHIQL
    ? createGraphiql({ operation: exampleOperation(graph), title: graph.name })
    : () => false;
  // Slow headers and bodies must not hold sockets. The limits end for a socket at its upgrade.
  const limits = { headersTimeout: 10_000, requestTimeout: 15_000, connectionsCheckingInterval: 5_000 };
  const server = createServer(limits, (request, response) => {
    if (request.url?.split('?', 1)[0] === ENDPOINT) return void endpoint(request, response);
    if (graphiql(request, response)) return;
    const text = `Nothing here; GraphQL is at ${ENDPOINT}${config.GRAPHIQL ? ', GraphiQL at /' : ''}\n`;
    response.writeHead(404, { 'content-type': 'text/plain' }).end(text);
  });
  closeAfterReplies(server, draining);
  return server;
}
