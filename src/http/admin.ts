import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Logger } from '../log.ts';
import { endServer, listen } from './listening.ts';
import { LoopLag } from './loop-lag.ts';

export interface AdminOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly logger: Logger;
  readonly status: () => 'starting' | 'ready' | 'draining';
  /** Body of `/readyz` beside the status: missing topics, state of Kafka and Redis. Does not affect readiness. */
  readonly details: () => object;
  /** The body of `/metrics` (prom-client's `registry.metrics()`). */
  readonly metrics: () => Promise<string>;
  /** Content type of that body (prom-client's `registry.contentType`). */
  readonly metricsContentType: string;
  /** Event loop lag from which `/healthz` returns 503. Default 30,000 ms. */
  readonly maxLoopLagMs?: number;
}

/** Longest wait of `close()` for replies in flight, in ms. */
const CLOSE_TIMEOUT_MS = 1000;

/**
 * `/healthz`, `/readyz` and `/metrics` on a port that is not for clients. Neither `/healthz` nor `/readyz` depends on Kafka or
 * Redis: all pods share them, so all pods would leave the load balancer at once.
 */
export class AdminServer {
  readonly #options: AdminOptions;
  readonly #server: Server;
  readonly #lag = new LoopLag();
  readonly #routes: ReadonlyMap<string, (response: ServerResponse) => Promise<void> | void>;
  #port = 0;
  #closing: Promise<void> | undefined;

  constructor(options: AdminOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => void this.#onRequest(request, response));
    this.#routes = new Map([
      ['/healthz', this.#sendHealth.bind(this)],
      ['/readyz', this.#sendReadiness.bind(this)],
      ['/metrics', this.#sendMetrics.bind(this)],
    ]);
  }

  /** The port it listens on after `start`. */
  get port(): number {
    return this.#port;
  }

  /** @throws SetupError naming ADMIN_PORT when the port cannot be listened on. */
  async start(): Promise<void> {
    const { host, port } = this.#options;
    this.#port = await listen(this.#server, { host, port, variable: 'ADMIN_PORT' });
    this.#lag.start();
  }

  /** Idempotent. Takes at most a second. */
  close(): Promise<void> {
    this.#lag.close();
    this.#closing ??= endServer(this.#server, CLOSE_TIMEOUT_MS);
    return this.#closing;
  }

  async #onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?', 1)[0]!;
    const send = this.#routes.get(path);
    try {
      if (!send) sendText(response, 404, `not found; there are ${[...this.#routes.keys()].join(', ')}\n`);
      else if (request.method !== 'GET' && request.method !== 'HEAD') sendText(response, 405, 'only GET\n');
      else await send(response);
    } catch (error) {
      this.#options.logger.error({ err: error, requestPath: path }, 'an admin request failed');
      sendText(response, 500, 'internal error; the log says more\n');
    }
  }

  #sendHealth(response: ServerResponse): void {
    const loopLagMs = Math.round(this.#lag.lagMs);
    const isAlive = loopLagMs < (this.#options.maxLoopLagMs ?? 30_000);
    sendJson(response, isAlive ? 200 : 503, { status: isAlive ? 'alive' : 'stuck', loopLagMs });
  }

  #sendReadiness(response: ServerResponse): void {
    const status = this.#options.status();
    sendJson(response, status === 'ready' ? 200 : 503, { ...this.#options.details(), status });
  }

  async #sendMetrics(response: ServerResponse): Promise<void> {
    sendBody(response, 200, this.#options.metricsContentType, await this.#options.metrics());
  }
}

function sendJson(response: ServerResponse, code: number, value: object): void {
  sendBody(response, code, 'application/json; charset=utf-8', `${JSON.stringify(value)}\n`);
}

function sendText(response: ServerResponse, code: number, text: string): void {
  sendBody(response, code, 'text/plain; charset=utf-8', text);
}

function sendBody(response: ServerResponse, code: number, contentType: string, body: string): void {
  response.writeHead(code, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  });
  response.end(body);
}
