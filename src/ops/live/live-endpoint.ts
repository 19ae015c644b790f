import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GraphQLError, OperationTypeNode, execute, getOperationAST, parse, subscribe, validate } from 'graphql';
import type { DocumentNode, ExecutionArgs, GraphQLSchema } from 'graphql';
import { originRefusal } from '../../config/addresses/origin.ts';
import type { Origins } from '../../config/addresses/origin.ts';
import { readBody } from '../../gateway/http/request-body.ts';
import { whenReplied } from '../../gateway/http/reply-end.ts';
import { sendJson, sendText } from '../../gateway/http/route.ts';
import type { Route } from '../../gateway/http/route.ts';
import { STREAM_HEADERS } from '../../gateway/http/stream-headers.ts';
import type { OperationName } from '../debug/operation-name.ts';
import type { OperationLookup } from './operation-lookup.ts';
import type { Figures } from './stats-reader.ts';
import type { StatsSampler } from './stats-sampler.ts';
import { STATS_RULES, buildStatsSchema } from './stats-schema.ts';

export interface LiveEndpointOptions {
  readonly sampler: StatsSampler;
  readonly pod: string;
  /** null: there is none, or this pod serves no clients. */
  readonly lookUp: OperationLookup;
}

interface Request {
  readonly query?: unknown;
  readonly variables?: unknown;
  readonly operationName?: unknown;
}

/** An incident brings people to the page; more would be a mistake. */
const MAX_STREAMS = 50;
const MAX_BODY_BYTES = 16 * 1024;
const MAX_TOKENS = 1000;
/** Longest wait, in ms, for a watcher that does not read. */
const PATIENCE_MS = 30_000;

/** A page of another origin could not read the figures, and could open streams until there are too many. */
const OWN_ORIGIN: Origins = { allowed: [], own: '' };

const HEADERS = { ...STREAM_HEADERS, 'content-type': 'text/event-stream; charset=utf-8' };

const EXAMPLE = 'expected a GraphQL document, such as ?query=subscription{crier_stats{pod,deliveries_per_second}}\n';

/**
 * GraphQL of the pod itself: `crier_stats`, over server-sent events in the protocol of graphql-sse. Beside the gateway: it must answer
 * when the pod takes no more clients, and who watches must not change the figures of clients.
 */
export class LiveEndpoint {
  readonly #options: LiveEndpointOptions;
  #schema: GraphQLSchema | undefined;
  #streams = 0;

  constructor(options: LiveEndpointOptions) {
    this.#options = options;
  }

  readonly route: Route = {
    methods: ['GET', 'POST'],
    handle: async (request, response, url) => {
      if (originRefusal(request.headers, OWN_ORIGIN)?.reason === 'origin')
        return sendText(response, 403, 'a page of another origin sent this request; open the dashboard at /live\n');
      const sent = request.method === 'POST' ? await inBody(request) : inUrl(url);
      if (typeof sent?.query !== 'string') return sendText(response, 400, EXAMPLE);
      await this.#answer(request, response, sent.query, sent);
    },
  };

  async #answer(request: IncomingMessage, response: ServerResponse, query: string, sent: Request): Promise<void> {
    const document = parsed(query);
    if (document instanceof GraphQLError) return sendJson(response, 400, { errors: [document] });
    const operationName = typeof sent.operationName === 'string' ? sent.operationName : null;
    const isStream = getOperationAST(document, operationName)?.operation === OperationTypeNode.SUBSCRIPTION;
    if (isStream && this.#streams >= MAX_STREAMS)
      return sendText(response, 503, `${MAX_STREAMS} streams of figures are open: close one\n`);
    const schema = (this.#schema ??= buildStatsSchema());
    const errors = validate(schema, document, STATS_RULES);
    if (errors.length > 0) return sendJson(response, 400, { errors });
    const stop = new AbortController();
    const args: ExecutionArgs = {
      schema,
      document,
      operationName,
      variableValues: objectOf(sent.variables),
      rootValue: {
        pod: this.#options.pod,
        crier_stats: () => events(this.#options.sampler.watch(stop.signal)),
        crier_stats_history: () => this.#options.sampler.history,
        crier_operation: (name: OperationName) => this.#options.lookUp(name, stop.signal),
      },
    };
    whenReplied(request, response, () => stop.abort());
    if (!isStream) return sendJson(response, 200, await execute(args));
    if (request.method === 'HEAD') return void response.writeHead(200, HEADERS).end();
    this.#streams++;
    stop.signal.addEventListener('abort', () => this.#streams--);
    await stream(args, response, AbortSignal.any([stop.signal, this.#options.sampler.closing]));
  }
}

/** Root values. */
async function* events(figures: AsyncIterable<Figures>) {
  for await (const crier_stats of figures) yield { crier_stats };
}

async function stream(args: ExecutionArgs, response: ServerResponse, stopped: AbortSignal): Promise<void> {
  const results = await subscribe(args);
  if (!(Symbol.asyncIterator in results)) return sendJson(response, 400, results);
  response.writeHead(200, HEADERS);
  // Some proxies hold headers back until the first byte of a body.
  response.write(':\n\n');
  for await (const result of results) {
    if (!response.write(`event: next\ndata: ${JSON.stringify(result)}\n\n`)) await drained(response, stopped);
  }
  response.end('event: complete\ndata:\n\n');
}

async function drained(response: ServerResponse, stopped: AbortSignal): Promise<void> {
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(PATIENCE_MS)]);
  await once(response, 'drain', { signal }).catch(() => response.destroy());
}

function parsed(query: string): DocumentNode | GraphQLError {
  try {
    return parse(query, { maxTokens: MAX_TOKENS });
  } catch (error) {
    if (error instanceof GraphQLError) return error;
    throw error;
  }
}

function inUrl({ searchParams }: URL): Request {
  const [query, variables, operationName] = ['query', 'variables', 'operationName'].map((name) =>
    searchParams.get(name),
  );
  return { query, variables: jsonOf(variables ?? '{}'), operationName };
}

async function inBody(request: IncomingMessage): Promise<Request> {
  return objectOf(jsonOf((await readBody(request, MAX_BODY_BYTES)) ?? ''));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
