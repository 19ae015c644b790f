import { backends as backendNames } from '../../../examples/auction/context.ts';
import type { Parts } from './parts.ts';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
type Method = (typeof METHODS)[number];

export type Backend = Record<Method, (path: string, body?: unknown) => Promise<unknown>>;
export type Backends = Record<string, Backend>;

/** The client's `connection_init` payload. */
export type Params = Readonly<Record<string, unknown>>;

/** The 32 backends of one context with five methods each. The eager version creates all 160 wrappers. */
export function createBackends(version: Parts['backends'], params: Params): Backends {
  return version === 'eager' ? eagerBackends(params) : lazyBackends(params);
}

function eagerBackends(params: Params): Backends {
  const backends: Backends = {};
  for (const name of backendNames) {
    const backend = {} as Backend;
    for (const method of METHODS) backend[method] = createMethod(name, method, params);
    backends[name] = backend;
  }
  return backends;
}

function lazyBackends(params: Params): Backends {
  const made: Record<string | symbol, Backend> = {};
  return new Proxy(made, { get: (_, name) => (made[name] ??= lazyBackend(String(name), params)) });
}

function lazyBackend(name: string, params: Params): Backend {
  const made = {} as Backend;
  const get = (_: Backend, method: string | symbol) =>
    (made[method as Method] ??= createMethod(name, method as Method, params));
  return new Proxy(made, { get });
}

interface Defaults {
  readonly method: string;
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The talk gives the number of wrappers, not their content. This one, an assumption, is a closure over a request's defaults and the
 * caller's headers. The flood calls none of them.
 */
function createMethod(backend: string, method: Method, params: Params): Backend[Method] {
  const defaults: Defaults = {
    method: method.toUpperCase(),
    baseUrl: `http://${backend}.internal`,
    headers: { accept: 'application/json', authorization: params['authorization'] as string },
  };
  return (path, body) => request(defaults, path, body);
}

async function request({ method, baseUrl, headers }: Defaults, path: string, body: unknown): Promise<unknown> {
  const text = body === undefined ? null : JSON.stringify(body);
  return (await fetch(baseUrl + path, { method, headers, body: text })).json();
}
