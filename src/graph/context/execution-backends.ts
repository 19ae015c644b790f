import { didYouMean } from '../../base/did-you-mean.ts';
import type { Backend, BackendRequestOptions } from './backend.ts';
import { TOKEN_PARAMETERS } from './connection-facts.ts';
import type { ConnectionFacts } from './connection-facts.ts';

export type BackendMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface BackendRequest {
  readonly method: BackendMethod;
  readonly path: string;
  /** JSON; undefined sends no body. */
  readonly body?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A header of the caller, by its name in lower case. It counts as read, so it is called only for those that the backend receives. */
  readonly callerHeader: (name: string) => string | undefined;
  /** Aborted when nobody waits for the reply any more. Default: never. */
  readonly signal?: AbortSignal | undefined;
}

export interface BackendReply {
  /** Parsed JSON; null for an empty text. */
  readonly body: unknown;
  readonly text: string;
}

/** What the backends of executions send through: the pod's `Backends`. */
export interface BackendPort {
  send(name: string, request: BackendRequest): Promise<BackendReply>;
}

/** A context, as backends need it: a request reads of the connection only the headers that the backend receives. */
interface ConnectionHolder {
  readonly connection: ConnectionFacts;
  readonly signal?: AbortSignal;
}

/**
 * `context.backends` of one execution. A backend is made when its name is first read, each of its methods when that is first read.
 * @throws TypeError (at the read) naming a backend that the graph's context.ts does not export, and the one that may be meant
 */
export function executionBackends(
  names: readonly string[],
  port: BackendPort,
  context: ConnectionHolder,
): Readonly<Record<string, Backend>> {
  const made = Object.create(null) as Record<string, Backend>;
  return new Proxy(made, {
    get(target, name) {
      // `await` reads `then`, and a logger reads `toJSON`: neither names a backend.
      if (typeof name === 'symbol' || name === 'then' || name === 'toJSON') return undefined;
      const known = target[name];
      if (known) return known;
      if (!names.includes(name)) throw new TypeError(unknownBackend(name, names));
      return (target[name] = new ExecutionBackend(name, port, context));
    },
  });
}

function unknownBackend(name: string, names: readonly string[]): string {
  const known = names.length === 0 ? 'exports no backends' : `exports the backends ${names.join(', ')}`;
  return `context.backends: there is no "${name}": context.ts ${known}${didYouMean(name, names) || '; add it there'}`;
}

class ExecutionBackend implements Backend {
  readonly #name: string;
  readonly #port: BackendPort;
  readonly #context: ConnectionHolder;
  #get: Backend['get'] | undefined;
  #post: Backend['post'] | undefined;
  #put: Backend['put'] | undefined;
  #patch: Backend['patch'] | undefined;
  #delete: Backend['delete'] | undefined;

  constructor(name: string, port: BackendPort, context: ConnectionHolder) {
    this.#name = name;
    this.#port = port;
    this.#context = context;
  }

  get get(): Backend['get'] {
    return (this.#get ??= (path, options) => this.#send('GET', path, undefined, options));
  }

  get post(): Backend['post'] {
    return (this.#post ??= (path, body, options) => this.#send('POST', path, body, options));
  }

  get put(): Backend['put'] {
    return (this.#put ??= (path, body, options) => this.#send('PUT', path, body, options));
  }

  get patch(): Backend['patch'] {
    return (this.#patch ??= (path, body, options) => this.#send('PATCH', path, body, options));
  }

  get delete(): Backend['delete'] {
    return (this.#delete ??= (path, options) => this.#send('DELETE', path, undefined, options));
  }

  async #send<Body>(
    method: BackendMethod,
    path: string,
    body: unknown,
    options: BackendRequestOptions | undefined,
  ): Promise<Body> {
    const reply = await this.#port.send(this.#name, {
      method,
      path,
      body: body === undefined ? undefined : JSON.stringify(body),
      headers: options?.headers && { ...options.headers },
      callerHeader: (name) => callerHeader(name, this.#context.connection),
      signal: this.#context.signal,
    });
    return reply.body as Body;
  }
}

/** Text that HTTP can carry; a parameter may be any. Another value is not forwarded: the backend then refuses the caller, not crier. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

function callerHeader(name: string, connection: ConnectionFacts): string | undefined {
  const value: unknown = name === 'authorization' ? authorizationOf(connection) : connection.headers[name];
  return typeof value === 'string' && HEADER_VALUE.test(value) ? value : undefined;
}

/**
 * What `tokenOf` looks at, in its order, so that a backend receives the token that was verified: parameters of `connection_init`, then the
 * header. Only the token of a cookie (`JWT_LOCATIONS`) is not here: its backend needs the cookie. A header with another scheme, beside such a
 * cookie, was not verified.
 */
function authorizationOf({ headers, params }: ConnectionFacts): string | undefined {
  const parameters = TOKEN_PARAMETERS.map((name) => params[name]);
  const parameter = parameters.find((value): value is string => typeof value === 'string' && value !== '');
  return parameter === undefined ? headers['authorization'] : withScheme(parameter.trim());
}

function withScheme(parameter: string): string {
  return /\s/.test(parameter) ? parameter : `Bearer ${parameter}`;
}
