import { openSocket } from '../conformance/socket.ts';
import type { Socket } from '../conformance/socket.ts';
import { SetupError } from '../../base/errors.ts';
import type { Bench, Trigger } from './arguments.ts';

/** The fix of EMFILE. */
export const MORE_FILES = 'ulimit -n raises the number';

interface Result {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string }[];
}

/** Sends the mutation that causes an event, over HTTP or over one WebSocket of its own. */
export class EventTrigger {
  readonly #bench: Bench;
  readonly #trigger: Trigger;
  #sent = 0;
  #socket: Promise<Socket> | undefined;
  readonly #ends: (() => void | Promise<void>)[] = [];

  constructor(bench: Bench, trigger: Trigger) {
    this.#bench = bench;
    this.#trigger = trigger;
  }

  /** Resolves when the server has answered. @throws SetupError if it refuses the mutation */
  async send(): Promise<void> {
    const { url, query, isNumbered } = this.#trigger;
    const n = ++this.#sent;
    const request = { query, ...(isNumbered && { variables: { n } }) };
    const { data, errors } = await (/^ws/.test(url) ? this.#overSocket(`${n}`, request) : this.#overHttp(request));
    if (data === undefined || data === null || errors?.length)
      throw this.#failure(errors?.map(({ message }) => message).join('; ') ?? 'without data');
  }

  async close(): Promise<void> {
    for (const end of this.#ends.splice(0)) await end();
  }

  async #overHttp(request: object): Promise<Result> {
    const { headers, timeoutMs } = this.#bench;
    try {
      const response = await fetch(this.#trigger.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
        body: JSON.stringify(request),
        signal: AbortSignal.timeout(timeoutMs),
      });
      const text = await response.text();
      const result = parsed(text);
      return result ?? { errors: [{ message: `status ${response.status}: ${text.slice(0, 200)}` }] };
    } catch (error) {
      const { message, cause } = error as Error;
      throw this.#failure(cause instanceof Error && cause.message ? cause.message : message);
    }
  }

  async #overSocket(id: string, payload: object): Promise<Result> {
    const { timeoutMs } = this.#bench;
    try {
      const socket = await (this.#socket ??= this.#open());
      socket.send({ id, type: 'subscribe', payload });
      const answer = await socket.nextOf(id, timeoutMs);
      if (!answer) return { errors: [{ message: `no answer in ${timeoutMs / 1000} s` }] };
      if (answer.type === 'error') return { errors: answer.payload as Result['errors'] & object };
      await socket.nextOf(id, timeoutMs);
      return answer.payload as Result;
    } catch (error) {
      throw this.#failure((error as Error).message);
    }
  }

  async #open(): Promise<Socket> {
    const { headers, timeoutMs, connectionParams } = this.#bench;
    const scope = { after: (end: () => void | Promise<void>) => void this.#ends.push(end) };
    const socket = await openSocket(scope, this.#trigger.url, { headers, patienceMs: timeoutMs });
    await socket.init(connectionParams);
    return socket;
  }

  #failure(reason: string): SetupError {
    const fix = reason.includes('EMFILE')
      ? `this machine allows too few open files for so many sockets: ${MORE_FILES}`
      : '--trigger-url sends it elsewhere, or over ws://';
    return new SetupError(`the mutation of --trigger failed at ${this.#trigger.url}: ${reason}; ${fix}`);
  }
}

function parsed(text: string): Result | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
