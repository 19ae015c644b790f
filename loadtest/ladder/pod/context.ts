import { createBackends } from './backends.ts';
import type { Backends, Params } from './backends.ts';
import { createLoaders, createPrimers } from './loaders.ts';
import type { Loaders, Primers } from './loaders.ts';
import type { Parts } from './parts.ts';

/** What resolvers got: made when a client subscribes, kept as long as the subscription. */
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
