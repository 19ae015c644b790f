import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LogWindow } from '../../base/log.ts';
import type { SettingNames } from '../../config/setting-names.ts';
import type { Logger } from '../../base/log.ts';
import { AdminAccess } from './admin-access.ts';
import { SLOW_CLIENT_LIMITS, closeAfterReplies, endServer, listen } from './listening.ts';
import { sendText } from './route.ts';
import type { Route } from './route.ts';

export interface AdminOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Of all paths but the public ones; '': they are served on loopback addresses only. */
  readonly token: string;
  readonly names: SettingNames;
  readonly logger: Logger;
  /** Once aborted, replies close their connections. */
  readonly draining: AbortSignal;
  /** By path. Looked up at each request: routes may be added while the server listens. */
  readonly routes: ReadonlyMap<string, Route>;
}

/** Longest wait of `close()` for replies in flight, in ms. */
const CLOSE_TIMEOUT_MS = 1000;
const LOG_WINDOW_MS = 10_000;

/** Routes for operators, on a port that is not for clients. */
export class AdminServer {
  readonly #options: AdminOptions;
  readonly #server: Server;
  readonly #access: AdminAccess;
  readonly #failureLog = new LogWindow(LOG_WINDOW_MS);
  #port = 0;
  #closing: Promise<void> | undefined;

  constructor(options: AdminOptions) {
    this.#options = options;
    this.#server = createServer(SLOW_CLIENT_LIMITS, (request, response) => void this.#onRequest(request, response));
    this.#access = new AdminAccess(options.token, () => this.#server.address() as AddressInfo);
    closeAfterReplies(this.#server, options.draining);
  }

  /** The port it listens on after `start`. */
  get port(): number {
    return this.#port;
  }

  /** @throws SetupError naming ADMIN_PORT when the port cannot be listened on. */
  async start(): Promise<void> {
    const { host, port, names, logger } = this.#options;
    this.#port = await listen(this.#server, { host, port, variable: 'ADMIN_PORT', names });
    if (this.#access.isClosed)
      logger.info({ host }, `${names.ADMIN_TOKEN} is not set: ${names.ADMIN_PORT} serves only health and metrics`);
  }

  /** Idempotent. Takes at most a second. */
  close(): Promise<void> {
    this.#closing ??= endServer(this.#server, CLOSE_TIMEOUT_MS);
    return this.#closing;
  }

  async #onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path] = (request.url ?? '').split('?', 1) as [string];
    try {
      await this.#answer(path, request, response);
    } catch (error) {
      this.#failureLog.run(this.#options.routes.has(path) ? path : '', (suppressed) =>
        this.#options.logger.error({ err: error, requestPath: path, suppressed }, 'an admin request failed'),
      );
      if (response.headersSent) response.destroy();
      else sendText(response, 500, 'internal error; the log says more\n');
    }
  }

  #answer(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> | void {
    const { routes, names } = this.#options;
    const route = routes.get(path);
    const refusal = route?.isPublic ? undefined : this.#access.refusal(request);
    if (refusal) {
      if (refusal.status === 401) response.setHeader('www-authenticate', 'Bearer');
      return sendText(response, refusal.status, refusal.text);
    }
    if (!route)
      return sendText(
        response,
        404,
        `not found; GraphQL is on ${names.PORT}; there are ${[...routes.keys()].join(', ')}\n`,
      );
    const allowed: readonly string[] = route.methods.flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name]));
    if (!allowed.includes(request.method ?? '')) {
      response.setHeader('allow', allowed.join(', '));
      return sendText(response, 405, `only ${allowed.join(', ')}\n`);
    }
    // A page that an operator has open may post to the loopback address. Browsers send Origin with every POST.
    if (request.method === 'POST' && request.headers.origin !== undefined) {
      return sendText(response, 403, 'not for browsers: a request with an Origin header is refused\n');
    }
    return route.handle(request, response, new URL(request.url!, 'http://admin'));
  }
}
