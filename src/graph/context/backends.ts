import { BackendError } from './backend-error.ts';
import { ConfigError } from '../../base/errors.ts';
import type { ErrorCode } from '../../base/errors.ts';
import { backendVariable } from '../../config/backend-settings.ts';
import { ENVIRONMENT_NAMES } from '../../config/setting-names.ts';
import type { SettingNames } from '../../config/setting-names.ts';
import type { BackendConfig } from '../../config/backend-settings.ts';
import type { BackendClient } from './backend-client/backend-client.ts';
import { BackendFailure, unavailable } from './backend-client/backend-failure.ts';
import type { BreakerState } from './backend-client/breaker.ts';
import type { BackendPort, BackendReply, BackendRequest } from './execution-backends.ts';

const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;

export type BackendOutcome = 'OK' | ErrorCode;

export interface BackendAnswer {
  readonly backend: string;
  readonly outcome: BackendOutcome;
  /** HTTP status; undefined without a response. */
  readonly status: number | undefined;
  readonly durationMs: number;
  /** False if the request was refused before it was sent. */
  readonly isSent: boolean;
  /** What failed, for the log and never for a client. Holds no URL, header or body. */
  readonly reason: string | undefined;
}

/** Its functions must not throw. */
export interface BackendsObserver {
  /** A request has ended; a retry is part of it. */
  onAnswer?(answer: BackendAnswer): void;
  /** A GET was sent a second time, and this time ended like this. */
  onRetry?(backend: string, outcome: BackendOutcome): void;
  /** The circuit breaker of a backend has changed its state. */
  onBreaker?(backend: string, state: BreakerState): void;
}

export interface BackendsOptions {
  /** Default: those of an environment. */
  readonly names?: SettingNames;
  /** By `backendVariable(name)`. */
  readonly backends: ReadonlyMap<string, BackendConfig>;
  /** Requests in flight per backend, each on a keep-alive socket of its own. The value may change at any time. */
  readonly maxSockets: () => number;
  /** Longest wait for the whole response, including the wait for a free socket and a retry, unless the event loop is blocked. */
  readonly timeoutMs: number;
  /** Retries, as a fraction of the requests to a backend. Default: 0, no retries. */
  readonly retryBudget?: number;
  /** Time for which an open circuit breaker refuses requests. Default: 0, no breaker. */
  readonly breakerCooldownMs?: number;
  /** Largest response body in bytes. Default: 8 MiB. */
  readonly maxResponseBytes?: number;
  /** Requests to one backend that are in flight or wait for a socket, per socket; more fail at once. Default: 100. */
  readonly maxPendingPerSocket?: number;
  readonly observer?: BackendsObserver;
}

/** One backend, as its metrics show it. */
export interface BackendPressure {
  readonly inFlight: number;
  /** Requests that wait for a socket. */
  readonly waiting: number;
  readonly breaker: BreakerState;
}

/**
 * The pod's HTTP clients: one per backend, made at its first use. The first `load`, or else the first use, loads their modules. Bodies are
 * JSON. Redirects are not followed. A GET with status 404 gives null; so does an empty response. A GET that the backend has not processed is
 * sent once more, within the budget and the timeout.
 *
 * Fails with a BackendError, of which a client receives a code and nothing about the backend: BACKEND_NOT_CONFIGURED,
 * BACKEND_TIMEOUT, BACKEND_UNAVAILABLE (no connection, connection lost, too many waiting, closing; open circuit breaker, with
 * `extensions.retryAfterMs`) and BACKEND_ERROR (an error status; a response that is too large or not JSON). A request that the graph made
 * wrongly (a bad path, body or header) fails with TypeError.
 */
export class Backends implements BackendPort {
  readonly #options: BackendsOptions;
  readonly #names: SettingNames;
  readonly #clients = new Map<string, BackendClient>();
  #Client: typeof BackendClient | undefined;
  #closing: Promise<void> | undefined;

  /** @throws ConfigError for a base URL with credentials, query or fragment. */
  constructor(options: BackendsOptions) {
    this.#options = options;
    this.#names = options.names ?? ENVIRONMENT_NAMES;
    for (const [key, { url }] of options.backends) refuseBaseUrl(this.#names.backend(key, 'URL'), url);
  }

  /** Loads the modules of the clients. */
  async load(): Promise<void> {
    this.#Client ??= (await import('./backend-client/backend-client.ts')).BackendClient;
  }

  async send(name: string, request: BackendRequest): Promise<BackendReply> {
    const config = this.#options.backends.get(backendVariable(name));
    const startedAt = performance.now();
    const report = (outcome: BackendOutcome, status?: number, reason?: string, isSent = true) =>
      this.#options.observer?.onAnswer?.({
        backend: name,
        outcome,
        status,
        durationMs: performance.now() - startedAt,
        isSent,
        reason,
      });
    try {
      if (config && !this.#Client) await this.load();
      if (this.#closing) throw unavailable('closing', { isSent: false });
      if (!config) {
        const reason = `${this.#names.backend(name, 'URL')} is not set`;
        throw new BackendFailure('BACKEND_NOT_CONFIGURED', 'is not configured', reason, { isSent: false });
      }
      const answer = await this.#client(name, config).send(request, config.forwardedHeaders);
      report('OK', answer.status);
      return answer;
    } catch (error) {
      if (!(error instanceof BackendFailure)) throw error;
      const { code, details, reason } = error;
      // A caller that has left says nothing of the backend.
      if (!request.signal?.aborted) report(code, details.status, reason, details.isSent);
      throw new BackendError(name, error.message, { code, ...details });
    }
  }

  /** Each backend that was used. */
  *pressure(): Generator<[name: string, pressure: BackendPressure]> {
    for (const [name, { inFlight, waiting, breaker }] of this.#clients) yield [name, { inFlight, waiting, breaker }];
  }

  /** Waits up to one second for requests in flight: their clients are disconnected already. */
  close(): Promise<void> {
    this.#closing ??= Promise.all([...this.#clients.values()].map((client) => client.close())).then(() => undefined);
    return this.#closing;
  }

  #client(name: string, config: BackendConfig): BackendClient {
    let client = this.#clients.get(name);
    if (!client) this.#clients.set(name, (client = this.#open(name, config)));
    return client;
  }

  #open(name: string, { url }: BackendConfig): BackendClient {
    const { observer } = this.#options;
    return new this.#Client!(
      url,
      {
        retryBudget: 0,
        breakerCooldownMs: 0,
        maxResponseBytes: MAX_RESPONSE_BYTES,
        maxPendingPerSocket: 100,
        ...this.#options,
      },
      {
        onRetry: (outcome) => observer?.onRetry?.(name, outcome),
        onBreaker: (state) => observer?.onBreaker?.(name, state),
      },
    );
  }
}

function refuseBaseUrl(setting: string, url: string): void {
  const { username, password, search, hash } = new URL(url);
  if (username || password || search || hash) {
    throw new ConfigError(`${setting}: expected a URL without credentials, query and fragment`);
  }
}
