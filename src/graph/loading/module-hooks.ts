import type { InitializeHook, LoadHook, ResolveHook } from 'node:module';
import type { MessagePort } from 'node:worker_threads';

/** The compiled modules of one version of a graph. */
export interface ModuleVersion {
  /** In the query of their URLs; undefined: they have none. */
  readonly version: string | undefined;
  /** Code by URL. */
  readonly sources: Readonly<Record<string, string>>;
}

/** Data that `register` passes to these hooks. They run on Node's loader thread, one instance per graph folder. */
export interface GraphModules {
  readonly first: ModuleVersion;
  /** Brings further versions. Each is answered when its modules can be imported. */
  readonly port: MessagePort;
  /** URL of crier's package.json, from which packages are resolved that the graph has not installed. */
  readonly packageUrl: string;
  /** Of that package. Graphs import it as `crier`, which on npm is a package of others. */
  readonly packageName: string;
}

/** Versions whose code is kept: a module may import another one long after the start, by `import()`. */
const MAX_VERSIONS = 3;

let packageUrl = '';
let packageName = '';
let versions: readonly ModuleVersion[] = [];

export const initialize: InitializeHook<GraphModules> = ({ first, port, ...own }) => {
  ({ packageUrl, packageName } = own);
  versions = [first];
  port.on('message', (added: ModuleVersion) => {
    versions = [...versions, added].slice(-MAX_VERSIONS);
    port.postMessage('added');
  });
  port.unref();
};

export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  const parent = context.parentURL;
  if (specifier.startsWith('node:')) return nextResolve(specifier, context);
  const own = parent === undefined ? undefined : versionOf(parent);
  if (!own) {
    return versionOf(specifier)
      ? { url: specifier, format: 'module', shortCircuit: true }
      : nextResolve(specifier, context);
  }
  if (/^\.\.?\//.test(specifier)) {
    const url = new URL(specifier, parent);
    url.search = new URL(parent!).search;
    const found = [url.href, url.href.replace(/\.(m?)js(?=$|\?)/, '.$1ts')].find((one) =>
      Object.hasOwn(own.sources, one),
    );
    if (found) return { url: found, format: 'module', shortCircuit: true };
    const other = await nextResolve(specifier, context);
    // Node keeps it under its URL, too. CommonJS is kept under the name of its file, whatever the URL is.
    return other.format === 'json' ? { ...other, url: `${other.url}${url.search}` } : other;
  }
  // Two copies of graphql reject each other's types, so a graph always imports crier's copy.
  if (specifier === 'graphql' || specifier.startsWith('graphql/')) {
    return nextResolve(specifier, { ...context, parentURL: packageUrl });
  }
  try {
    return await nextResolve(specifier, context);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    try {
      const name = specifier.replace(/^crier(?=\/|$)/, packageName);
      return await nextResolve(name, { ...context, parentURL: packageUrl });
    } catch {
      // It names the file of the graph that imports the package.
      throw error;
    }
  }
};

export const load: LoadHook = (url, context, nextLoad) => {
  const source = versionOf(url)?.sources[url];
  return source === undefined ? nextLoad(url, context) : { format: 'module', source, shortCircuit: true };
};

function versionOf(url: string): ModuleVersion | undefined {
  return versions.find(({ sources }) => Object.hasOwn(sources, url));
}
