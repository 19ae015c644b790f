import { createBackends } from './backends.ts';
import type { Backends, Params } from './backends.ts';
import { createLoaders } from './loaders.ts';
import type { Loaders } from './loaders.ts';
import type { Parts } from './parts.ts';

/** The context of resolvers. Created for each subscription and kept until it ends. */
export interface Context {
  readonly params: Params;
  readonly backends: Backends;
  loaders: Loaders;
}

export function createContext(parts: Parts, params: Params): Context {
  const context = { params, backends: createBackends(parts.backends, params) } as Context;
  context.loaders = createLoaders(parts.loaders, context);
  return context;
}
