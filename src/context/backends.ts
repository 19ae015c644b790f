import { Pool, errors } from 'undici';
import type { Dispatcher } from 'undici';
import { backendVariable } from '../config.ts';
import type { BackendConfig } from '../config.ts';
import { ConfigError, clientError } from '../errors.ts';
import type { ErrorCode } from '../errors.ts';
import { assertBackendPath } from './backend-path.ts';
import type { BackendPort, BackendRequest } from './execution-backends.ts';

export interface BackendAnswer {
  readonly backend: string;
  readonly outcome: 'OK' | ErrorCode;
  /** HTTP status; undefined without a response. */
  readonly status: number | undefined;
  readonly durationMs: number;
  /** What failed, for the log and never for a client. Holds no URL, header or body. */
  readonly reason: string | undefined;
}

export interface BackendsOptions {
  /** By `backendVariable(name)`. */
  readonly backends: ReadonlyMap<string, BackendConfig>;
  /** Keep-alive sockets per backend. */
  readonly maxSockets: number;
  /** Longest wait for the whole response, including the wait for a free socket. */
  readonly timeoutMs: number;
  /** Largest response body in bytes. Default: 8 MiB. */
  readonly maxResponseBytes?: number;
  /** Requests to one backend that are in flight or wait for a socket; more fail at once. Default: 100 per socket. */
  readonly maxPending?: number;
  /** Called when a request has ended. */
  readonly onAnswer?: (answer: BackendAnswer) => void;
}

/** Bytes of an error response that are read so that its socket can be reused; a longer body closes the socket. */
const MAX_DUMPED_BYTES = 65_536;
const MAX_CLOSE_MS = 1000;

/**
 * The pod's HTTP clients: one keep-alive pool per backend, made at its first use. Bodies are JSON. Redirects are not followed, and
 * nothing is retried. A GET with status 404 gives null; so does an empty response.
 *
 * Fails with GraphQL errors that tell a client the backend's name and a code, and nothing else: BACKEND_NOT_CONFIGURED,
 * BACKEND_TIMEOUT, BACKEND_UNAVAILABLE (no connection, connection lost, too many waiting, closing) and BACKEND_ERROR (an error status,
 * with `extensions.status`; a response that is too large or not JSON). A request that the graph made wrongly (a bad path, body or
 * header) fails with TypeError.
 */
export class Backends implements BackendPort {
  readonly #options: BackendsOptions;
  readonly #clients = new Map<string, BackendClient>();
  #closing: Promise<void> | undefined;

  /** @throws ConfigError for a base URL with credentials, query or fragment. */
  constructor(options: BackendsOptions) {
    this.#options = options;
    for (const [variable, { url }] of options.backends) refuseBaseUrl(variable, url);
  }

  async send(name: string, request: BackendRequest): Promise<unknown> {
    const config = this.#options.backends.get(backendVariable(name));
    const startedAt = performance.now();
    const report = (outcome: BackendAnswer['outcome'], status?: number, reason?: string) =>
      this.#options.onAnswer?.({ backend: name, outcome, status, durationMs: performance.now() - startedAt, reason });
    try {
      if (this.#closing) throw new BackendFailure('BACKEND_UNAVAILABLE', 'is not available', 'closing');
      if (!config) {
        const reason = `BACKEND_${backendVariable(name)}_URL is not set`;
        throw new BackendFailure('BACKEND_NOT_CONFIGURED', 'is not configured', reason);
      }
      const authorization = config.isAuthorizationForwarded ? request.authorization() : undefined;
      const answer = await this.#client(name, config).send(request, authorization);
      report('OK', answer.status);
      return answer.body;
    } catch (error) {
      if (!(error instanceof BackendFailure)) throw error;
      report(error.code, error.status, error.reason);
      const extensions = error.status === undefined ? { backend: name } : { backend: name, status: error.status };
      throw clientError(error.code, `The backend "${name}" ${error.message}`, extensions);
    }
  }

  /** For each backend that was used: its requests that wait because all of its sockets are in use. */
  *waiting(): Generator<[name: string, requests: number]> {
    for (const [name, client] of this.#clients) yield [name, client.waiting];
  }

  /** Waits up to one second for requests in flight: their clients are disconnected already. */
  close(): Promise<void> {
    this.#closing ??= Promise.all([...this.#clients.values()].map((client) => client.close())).then(() => undefined);
    return this.#closing;
  }

  #client(name: string, config: BackendConfig): BackendClient {
    let client = this.#clients.get(name);
    if (!client) this.#clients.set(name, (client = new BackendClient(config.url, this.#options)));
    return client;
  }
}

class BackendFailure extends Error {
  readonly code: ErrorCode;
  readonly status: number | undefined;
  readonly reason: string;

  constructor(code: ErrorCode, message: string, reason: string, status?: number) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.status = status;
  }
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** One backend: its pool, its base path and its bounds. */
class BackendClient {
  readonly #pool: Pool;
  readonly #basePath: string;
  readonly #timeoutMs: number;
  readonly #maxSockets: number;
  readonly #maxPending: number;
  #pending = 0;

  constructor(url: string, options: BackendsOptions) {
    const { origin, pathname } = new URL(url);
    const { timeoutMs, maxSockets, maxResponseBytes = 8 * 1024 * 1024, maxPending = 100 * maxSockets } = options;
    this.#basePath = pathname.replace(/\/+$/, '');
    this.#timeoutMs = timeoutMs;
    this.#maxSockets = maxSockets;
    this.#maxPending = maxPending;
    this.#pool = new Pool(origin, {
      connections: maxSockets,
      pipelining: 1,
      connect: { timeout: timeoutMs },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      maxResponseSize: maxResponseBytes,
    });
  }

  /** Requests without a socket. A socket carries one request at a time, from its first byte to the end of the response. */
  get waiting(): number {
    return Math.max(0, this.#pending - this.#maxSockets);
  }

  async send(request: BackendRequest, authorization: string | undefined): Promise<Answer> {
    const options = this.#requestOptions(request, authorization);
    if (this.#pending >= this.#maxPending) {
      throw new BackendFailure('BACKEND_UNAVAILABLE', 'is not available', `${this.#pending} requests are waiting`);
    }
    // One deadline for the wait for a socket, the headers and the body: undici restarts its own timers for each.
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), this.#timeoutMs);
    this.#pending++;
    try {
      const response = await this.#pool.request({ ...options, signal: deadline.signal });
      return await readAnswer(request.method, response);
    } catch (error) {
      if (!deadline.signal.aborted) throw failureOf(error);
      const reason = `no answer within ${this.#timeoutMs} ms`;
      throw new BackendFailure('BACKEND_TIMEOUT', 'did not answer in time', reason);
    } finally {
      this.#pending--;
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise((resolve) => (timer = setTimeout(resolve, MAX_CLOSE_MS)));
    // `close` never resolves if the pool is destroyed while requests wait for a socket.
    await Promise.race([this.#pool.close(), deadline]);
    clearTimeout(timer);
    await this.#pool.destroy();
  }

  #requestOptions({ method, path, body, headers }: BackendRequest, authorization: string | undefined) {
    assertBackendPath(path);
    const sent: Record<string, string | undefined> = { accept: 'application/json', authorization };
    if (body !== undefined) sent['content-type'] = 'application/json';
    for (const [name, value] of Object.entries(headers ?? {})) sent[name.toLowerCase()] = value;
    return {
      method,
      path: this.#basePath + path,
      headers: sent,
      body: body === undefined ? null : JSON.stringify(body),
    };
  }
}

async function readAnswer(method: string, response: Dispatcher.ResponseData): Promise<Answer> {
  const status = response.statusCode;
  if (status > 299) {
    await response.body.dump({ limit: MAX_DUMPED_BYTES });
    if (status === 404 && method === 'GET') return { status, body: null };
    throw new BackendFailure('BACKEND_ERROR', `answered with status ${status}`, `status ${status}`, status);
  }
  const text = await response.body.text();
  if (text === '') return { status, body: null };
  try {
    return { status, body: JSON.parse(text) as unknown };
  } catch {
    throw new BackendFailure('BACKEND_ERROR', 'answered with something that is not JSON', 'not JSON', status);
  }
}

function failureOf(error: unknown): Error {
  if (error instanceof BackendFailure) return error;
  if (error instanceof errors.InvalidArgumentError) return new TypeError(`backend request: ${error.message}`);
  if (error instanceof errors.ResponseExceededMaxSizeError) {
    return new BackendFailure('BACKEND_ERROR', 'answered with too much data', 'the answer is too large');
  }
  const { code, name } = error as NodeJS.ErrnoException;
  return new BackendFailure('BACKEND_UNAVAILABLE', 'is not available', code ?? name);
}

function refuseBaseUrl(variable: string, url: string): void {
  const { username, password, search, hash } = new URL(url);
  if (username || password || search || hash) {
    throw new ConfigError(`BACKEND_${variable}_URL: expected a URL without credentials, query and fragment`);
  }
}
