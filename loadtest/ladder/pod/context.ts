import { createBackends } from './backends.ts';
import type { Backends, Params } from './backends.ts';
import { createLoaders, createPrimers } from './loaders.ts';
import type { Loaders, Primers } from './loaders.ts';
import type { Parts } from './parts.ts';

/** The context of resolvers. Created for each subscription and kept until it ends. */
export interface Context {
  readonly params: Params;
  readonly backends: Backends;
  loaders: Loaders;
  primers: Primers;
}

export function createContext(parts: Parts, params: Params): Context {
  const context = { params, backends: createBackends(parts.backends, params) } as Context;
  context.loaders = createLoaders(parts.loaders, context);
  context.primers = createPrimers(parts.loaders, context);
  return context;
}
