import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Samples } from '../graph-parts.ts';
import { parseExactly } from '../../base/json/exact-numbers.ts';
import { LogWindow } from '../../base/log.ts';
import type { Logger } from '../../base/log.ts';
import { backendVariable } from '../../config/backend-settings.ts';
import type { BackendConfig } from '../../config/backend-settings.ts';

/** Largest request body in bytes. */
const MAX_BODY_BYTES = 1_048_576;
const LOG_WINDOW_MS = 10_000;

export interface SampleBackendsOptions {
  readonly log: Logger;
}

/**
 * One HTTP server on loopback that serves all backends of a graph from its samples. So the embedded mode calls backends like every
 * other mode.
 */
export class SampleBackends {
  /** Of the graph that is served; a reload replaces it. */
  respond: NonNullable<Samples['respond']> = () => undefined;
  readonly #options: SampleBackendsOptions;
  #listening: Promise<void> | undefined;
  readonly #server: Server;
  readonly #failureLog = new LogWindow(LOG_WINDOW_MS);
  #closing: Promise<void> | undefined;

  constructor(options: SampleBackendsOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  /**
   * Listens from the first call on.
   * @param names that a graph's context.ts exports
   * @returns the address of each, by `backendVariable(name)`, as in `Config.backends`
   */
  async urlsOf(names: readonly string[]): Promise<ReadonlyMap<string, BackendConfig>> {
    this.#listening ??= new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    await this.#listening;
    const { port } = this.#server.address() as AddressInfo;
    return new Map(
      names.map((name) => [
        backendVariable(name),
        { url: `http://127.0.0.1:${port}/${encodeURIComponent(name)}`, forwardedHeaders: [] },
      ]),
    );
  }

  /** Closes open connections at once. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
    return this.#closing;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, name = '', path = ''] = /^\/([^/]+)(.*)$/.exec(request.url ?? '') ?? [];
    try {
      const backend = decodeURIComponent(name);
      const text = await bodyOf(request);
      const body: unknown = text === '' ? undefined : parseExactly(text);
      const answer = this.respond(backend, { method: request.method ?? 'GET', path, body });
      response.statusCode = answer === undefined ? 404 : 200;
      response.setHeader('content-type', 'application/json');
      response.end(answer === undefined ? '' : JSON.stringify(answer));
    } catch (error) {
      if (this.#closing) return;
      this.#failureLog.run('response', (suppressed) =>
        this.#options.log.error({ err: error, backend: name, suppressed }, 'a sample response of the graph failed'),
      );
      response.statusCode = 500;
      response.end();
    }
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new RangeError(`a request body of more than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
