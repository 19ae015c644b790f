import type { Claims, ConnectionFacts } from './connection-facts.ts';

/** One backend of `context.backends`. Bodies are JSON; a path starts with "/". */
export interface Backend {
  get(path: string, options?: BackendRequestOptions): Promise<unknown>;
  post(path: string, body?: unknown, options?: BackendRequestOptions): Promise<unknown>;
  put(path: string, body?: unknown, options?: BackendRequestOptions): Promise<unknown>;
  patch(path: string, body?: unknown, options?: BackendRequestOptions): Promise<unknown>;
  delete(path: string, options?: BackendRequestOptions): Promise<unknown>;
}

export interface BackendRequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * What a resolver gets as its third argument. Made for one execution (one event of one operation); everything in it comes
 * into being when it is first read.
 */
export interface ExecutionContext<Loaders extends object = object, Primers extends object = object> {
  readonly backends: Readonly<Record<string, Backend>>;
  readonly loaders: Loaders;
  readonly primers: Primers;
  /** The only door to what differs between connections; it records what is read through it. */
  readonly connection: ConnectionFacts;
}

/** What `authenticate` is given, once per connection. */
export type ConnectionRequest = Omit<ConnectionFacts, 'claims'>;

/** The exports of a graph's `context.ts`, all optional. */
export interface ContextDefinition<Loaders extends object = object, Primers extends object = object> {
  /** Names that `context.backends` knows; `BACKEND_<NAME>_URL` says where each is. */
  readonly backends?: readonly string[];
  /** Called at the first read of `context.loaders` in an execution; written with `Proxy.lazy`. */
  createLoaders?(context: ExecutionContext<Loaders, Primers>): Loaders;
  /** Called at the first read of `context.primers` in an execution; written with `Proxy.lazy`. */
  createPrimers?(context: ExecutionContext<Loaders, Primers>): Primers;
  /** Returns the connection's claims (plain JSON data), or false to refuse it (4403). A throw refuses, too. Default: `{}` for all. */
  authenticate?(request: ConnectionRequest): Claims | false | Promise<Claims | false>;
}
