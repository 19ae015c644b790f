import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { configOf } from '../config/config.ts';
import type { Config } from '../config/config.ts';
import type { NewRecord } from '../graph/context/publishing.ts';
import type { Graph } from '../graph/graph-parts.ts';
import { GraphLoader } from '../graph/loading/load.ts';
import { recordValueProblem } from '../graph/record-value-problem.ts';
import { unreadTopicProblem } from '../graph/unread-topic.ts';
import { ConfigError } from '../base/errors.ts';
import { hostInUrl } from '../config/addresses/host-in-url.ts';
import { ignoreOffer, ignoreOffers, isWebSocketOffer } from '../gateway/http/upgrade-offer.ts';
import { withBigInts } from '../base/json/exact-numbers.ts';
import { createLog, logFormat } from '../base/log.ts';
import type { Logger } from '../base/log.ts';
import { ENDPOINT } from '../server/http-server.ts';
import { BUILT_IN_GRAPH } from '../config/built-in-graph.ts';
import { startServer } from '../server.ts';
import type { Server as StartedServer } from '../server.ts';
import { readVersion } from '../base/version.ts';
import type { EmbeddedPosition, EmbeddedRecord } from '../graph/embedded/embedded-topics.ts';
import { optionsInput } from './server-options.ts';
import type { BackendOptions, SettingOptions } from './server-options.ts';

/**
 * Beside these, every setting of docs/reference/configuration.md in camelCase: `KAFKA_BROKERS` is `kafkaBrokers`. Environment variables are not
 * read, except NODE_ENV, whose value `production` changes the same defaults as in a pod.
 */
export interface ServerOptions extends SettingOptions {
  /** A graph folder, or what `defineGraph` returns. Default: the built-in auction graph. */
  readonly graph?: string | Graph;
  /** By name, as in the graph's context. */
  readonly backends?: BackendOptions;
  /** Default: true. False: `port` is not listened on; requests come from another HTTP server, through `attach` and `handleRequest`. */
  readonly listen?: boolean;
  /** Default: JSON lines on standard error, from `logLevel` on. */
  readonly logger?: Logger;
  /** crier cannot go on: the process should end. Default: the error is thrown as an uncaught exception. */
  readonly onFatal?: (error: Error) => void;
}

export interface Server {
  /** Of the endpoint, `http://host:port/graphql`; undefined with `role: 'worker'`, and with `listen: false`. */
  readonly url: string | undefined;
  /** `ws://host:port/graphql` */
  readonly webSocketUrl: string | undefined;
  /** `http://host:port` of `/healthz`, `/readyz`, `/metrics` and what else is for operators. */
  readonly adminUrl: string;
  /**
   * Without Kafka: takes a record into a topic. Resolves when its events are published.
   * @throws TypeError with Kafka, whose producers write the records; and for a topic that no field of the graph reads, or a value of which it
   * makes no payload
   */
  publish(topic: string, record: NewRecord): Promise<void>;
  /**
   * Serves the WebSockets of another HTTP server at /graphql. Those of other paths receive 404 if nothing else listens for its `upgrade`
   * events, and are left alone otherwise. Ends when this server closes.
   * @throws TypeError with `role: 'worker'`
   */
  attach(httpServer: HttpServer): void;
  /**
   * Answers a request of another HTTP server, for /graphql: queries, mutations and streams.
   * @param body what a framework has read of it already; default: `request.body`
   * @throws TypeError with `role: 'worker'`
   */
  handleRequest(request: IncomingMessage, response: ServerResponse, body?: unknown): void;
  /** Drains as a pod does at SIGTERM, and releases everything. Idempotent. */
  close(): Promise<void>;
}

/**
 * Starts crier in this process: the server that `crier start` starts, with options instead of environment variables. Several may run at
 * once. `adminPort` is free by default, unlike a pod's.
 * @throws ConfigError for options that are unknown or cannot be used, GraphError for a graph with mistakes; nothing runs then
 */
export function createServer(options: ServerOptions = {}): Promise<Server> {
  return openServer(options, (graph) => graph);
}

/**
 * @param adapt what is served of a loaded graph
 * @param ownOptions names of the caller's own options, which an error may propose
 * @param onPublished called with each record of `publish`
 */
export async function openServer(
  options: ServerOptions,
  adapt: (graph: Graph) => Graph,
  ownOptions: readonly string[] = [],
  onPublished?: (record: EmbeddedRecord & EmbeddedPosition) => void,
): Promise<Server & Pick<StartedServer, 'graph' | 'settled'> & { readonly config: Config }> {
  if (typeof options !== 'object') {
    throw new ConfigError(`expected an object of options, such as { graph: "./graph" }, got a ${typeof options}`);
  }
  if ('bindings' in options) throw new ConfigError('expected an object of options, got a graph; write { graph }');
  const { graph, backends = {}, listen = true, logger, onFatal = throwUncaught, ...settings } = options;
  const config = configOf(optionsInput({ adminPort: 0, ...settings }, { backends, ownOptions }));
  const log =
    logger ??
    createLog(config.LOG_LEVEL, { role: config.ROLE, version: readVersion() }, undefined, logFormat(config.LOG_FORMAT));
  const ports = { onFatal, isListening: listen, isFed: true, graph: loaderOf(graph, config, adapt) };
  const server = await startServer(config, log, ports);
  const url = server.port === undefined ? undefined : `http://${hostInUrl(config.HOST)}:${server.port}/graphql`;
  return {
    url,
    webSocketUrl: url?.replace('http', 'ws'),
    adminUrl: `http://${hostInUrl(config.ADMIN_HOST)}:${server.adminPort}`,
    publish: async (topic, { key = null, value, headers }) => {
      if (!server.embedded) throw new TypeError('publish: with Kafka, records come from its producers');
      const problem = publishProblem(topic, key, server.graph) ?? recordValueProblem(topic, value, server.graph);
      if (problem !== undefined) throw new TypeError(`publish: ${problem}`);
      const record = {
        key: key === null ? null : Buffer.from(key),
        value: value === null ? null : Buffer.from(JSON.stringify(value, withBigInts)),
        ...(headers && { headers }),
      };
      const position = await server.embedded.append(topic, record);
      onPublished?.({ ...record, ...position });
    },
    attach: (httpServer) => {
      const own = gatewayOf(server);
      const stopIgnoring = ignoreOffers(httpServer);
      httpServer.on('upgrade', forward);
      own.once('close', () => {
        httpServer.removeListener('upgrade', forward);
        stopIgnoring();
      });
      function forward(request: IncomingMessage, socket: Duplex, head: Buffer): void {
        const isAlone = httpServer.listenerCount('upgrade') === 1;
        if (!isWebSocketOffer(request)) {
          // Without a listener of `upgrade`, Node would not have looked at the offer.
          if (isAlone) ignoreOffer(httpServer, request, socket, head);
        } else if (isAlone || request.url?.split('?', 1)[0] === ENDPOINT) own.emit('upgrade', request, socket, head);
      }
    },
    handleRequest: (request, response, body) => {
      if (body !== undefined) Object.assign(request, { body });
      gatewayOf(server).emit('request', request, response);
    },
    get graph() {
      return server.graph;
    },
    settled: () => server.settled(),
    config,
    close: () => server.close(),
  };
}

/** Of what a program without types gives. */
function publishProblem(topic: unknown, key: unknown, graph: Graph): string | undefined {
  if (typeof topic !== 'string') return `the topic must be a text, got ${String(topic)}`;
  if (key !== null && typeof key !== 'string' && !(key instanceof Uint8Array))
    return 'its key is no text and no bytes; write key: String(…)';
  return unreadTopicProblem(topic, graph);
}

function gatewayOf({ httpServer }: StartedServer): HttpServer {
  if (httpServer) return httpServer;
  throw new TypeError("a worker serves no requests: role: 'worker'");
}

function loaderOf(
  graph: ServerOptions['graph'],
  { names }: Config,
  adapt: (graph: Graph) => Graph,
): Pick<GraphLoader, 'load'> {
  if (typeof graph === 'string' && /[{\n]/.test(graph))
    throw new ConfigError(
      'graph: expected a folder, got the text of a schema; write graph: defineGraph({ schema: … })',
    );
  const loader = typeof graph === 'object' ? unchanging(graph) : new GraphLoader(graph || BUILT_IN_GRAPH, names.GRAPH);
  return {
    load: async (known) => {
      const loaded = await loader.load(known);
      return loaded && adapt(loaded);
    },
  };
}

/** A graph that is loaded again is the same. */
function unchanging(graph: Graph): Pick<GraphLoader, 'load'> {
  return { load: (known) => Promise.resolve(known === graph.revision ? undefined : graph) };
}

/** In a turn of its own, so that nothing catches it. */
function throwUncaught(error: Error): void {
  setImmediate(() => {
    throw error;
  });
}
