import type { InitializeHook, LoadHook, ResolveHook } from 'node:module';

/** Data that `register` passes to these hooks. They run on Node's loader thread, one instance per graph. */
export interface GraphModules {
  /** Compiled code by file URL. */
  readonly sources: Readonly<Record<string, string>>;
  /** URL of crier's package.json, from which packages are resolved that the graph has not installed. */
  readonly packageUrl: string;
}

let modules: GraphModules | undefined;

export const initialize: InitializeHook<GraphModules> = (data) => {
  modules = data;
};

export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  const parent = context.parentURL;
  if (!modules || specifier.startsWith('node:')) return nextResolve(specifier, context);
  const { sources, packageUrl } = modules;
  const isOwn = parent !== undefined && Object.hasOwn(sources, parent);
  if (isOwn && /^\.\.?\//.test(specifier)) {
    const url = new URL(specifier, parent).href;
    const found = [url, url.replace(/\.(m?)js$/, '.$1ts')].find((candidate) => Object.hasOwn(sources, candidate));
    return found ? { url: found, format: 'module', shortCircuit: true } : nextResolve(specifier, context);
  }
  if (!isOwn) {
    return Object.hasOwn(sources, specifier)
      ? { url: specifier, format: 'module', shortCircuit: true }
      : nextResolve(specifier, context);
  }
  // Two copies of graphql reject each other's types, so a graph always imports crier's copy.
  if (specifier === 'graphql' || specifier.startsWith('graphql/')) {
    return nextResolve(specifier, { ...context, parentURL: packageUrl });
  }
  try {
    return await nextResolve(specifier, context);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    return nextResolve(specifier, { ...context, parentURL: packageUrl });
  }
};

export const load: LoadHook = (url, context, nextLoad) => {
  const source = modules && Object.hasOwn(modules.sources, url) ? modules.sources[url] : undefined;
  return source === undefined ? nextLoad(url, context) : { format: 'module', source, shortCircuit: true };
};
