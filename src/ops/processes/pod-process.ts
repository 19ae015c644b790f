import type { Worker } from 'node:cluster';
import { Agent, request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, RequestOptions, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { sendText } from '../../gateway/http/route.ts';
import type { Order, Report, Started } from './reports.ts';

/** How a process has ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
  /** What a person has to fix, so that it can start. */
  readonly refusal?: string;
}

/** What a process answered on its admin port. */
export interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

/** Headers of one connection, not of what is asked: RFC 9110 section 7.6.1. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
  'host',
]);

/** One process of a pod, from its start to its end. */
export class PodProcess {
  readonly name: string;
  /** Resolves when it serves; not if it ends before. */
  readonly started: Promise<Started>;
  readonly ended: Promise<Ending>;
  readonly #worker: Worker;
  readonly #token: string;
  readonly #agent = new Agent({ keepAlive: true });
  #adminPort: number | undefined;
  #refusal: string | undefined;
  #servingSince: number | undefined;
  #isListening = false;
  #isEnded = false;

  /** @param token of its admin port */
  constructor(name: string, worker: Worker, token: string) {
    this.name = name;
    this.#worker = worker;
    this.#token = token;
    this.started = new Promise((resolve) => worker.on('message', (report: Report) => this.#onReport(report, resolve)));
    this.ended = new Promise((resolve) => {
      worker.once('exit', (code: number | null, signal: string | null) => resolve(this.#onEnd(code, signal)));
      // It could not be started: no exit follows.
      worker.on('error', () => {
        if (worker.process.pid === undefined) resolve(this.#onEnd(null, null));
      });
    });
  }

  get pid(): number | undefined {
    return this.#worker.process.pid;
  }

  /** False before its start is over, and after its end. */
  get isServing(): boolean {
    return this.#servingSince !== undefined && !this.#isEnded;
  }

  /** For how long it has served, in ms; undefined: it never did. */
  get servedMs(): number | undefined {
    return this.#servingSince === undefined ? undefined : performance.now() - this.#servingSince;
  }

  /** Passes a signal on. A process that does not listen yet would lose the message: SIGTERM and SIGINT end it as Node does by default. */
  order(signal: Order['signal']): void {
    if (!this.#isListening) {
      if (signal !== 'SIGHUP') this.#worker.process.kill('SIGTERM');
    } else if (this.#worker.isConnected()) {
      // The callback takes the error of a channel that closes meanwhile.
      this.#worker.process.send({ signal } satisfies Order, () => undefined);
    }
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }

  /** undefined: it has not answered within this time, or not at all. */
  async ask(
    path: string,
    timeoutMs: number,
    given: Pick<RequestOptions, 'method' | 'headers'> & { body?: Buffer } = {},
  ): Promise<Answer | undefined> {
    const { body, ...options } = given;
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const reply = await this.#request(path, { ...options, signal }, (request) => request.end(body));
      return reply && { status: reply.statusCode!, body: await buffer(reply) };
    } catch {
      return undefined;
    }
  }

  /** Answers a request of the pod's admin port as this process does. @param timeoutMs until the headers of its answer */
  async forward(request: IncomingMessage, response: ServerResponse, timeoutMs: number): Promise<void> {
    const caller = new AbortController();
    const onClose = () => caller.abort();
    response.once('close', onClose);
    const timer = setTimeout(() => caller.abort(), timeoutMs);
    try {
      const options = { method: request.method, headers: endToEnd(request.headers), signal: caller.signal };
      const reply = await this.#request(request.url!, options, (forwarded) => request.pipe(forwarded));
      if (!reply) return sendText(response, 503, `${this.name} does not serve yet\n`);
      clearTimeout(timer);
      response.writeHead(reply.statusCode!, endToEnd(reply.headers));
      await pipeline(reply, response);
    } catch {
      if (response.headersSent || response.destroyed) response.destroy();
      else if (caller.signal.aborted) sendText(response, 504, `${this.name} has not answered within ${timeoutMs} ms\n`);
      else sendText(response, 502, `the connection to ${this.name} was lost before it answered\n`);
    } finally {
      clearTimeout(timer);
      response.off('close', onClose);
    }
  }

  #request(
    path: string,
    options: RequestOptions,
    send: (request: ReturnType<typeof httpRequest>) => void,
  ): Promise<IncomingMessage | undefined> {
    const port = this.#adminPort;
    if (port === undefined || this.#isEnded) return Promise.resolve(undefined);
    const headers = { ...(options.headers as IncomingHttpHeaders), authorization: `Bearer ${this.#token}` };
    return new Promise((resolve, reject) => {
      const request = httpRequest({ ...options, host: '127.0.0.1', port, path, headers, agent: this.#agent }, resolve);
      request.once('error', reject);
      send(request);
    });
  }

  #onReport(report: Report, onStarted: (started: Started) => void): void {
    if ('isListening' in report) this.#isListening = true;
    else if ('adminPort' in report) this.#adminPort = report.adminPort;
    else if ('refused' in report) this.#refusal = report.refused;
    else {
      this.#servingSince = performance.now();
      onStarted(report.started);
    }
  }

  #onEnd(code: number | null, signal: string | null): Ending {
    this.#isEnded = true;
    this.#agent.destroy();
    return { code, signal, ...(this.#refusal !== undefined && { refusal: this.#refusal }) };
  }
}

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)));
}
