import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * The function that a module of the team's exports by default; undefined: it exports none.
 * @param path relative to the working directory
 * @throws what `import` throws
 */
export async function defaultFunction(path: string): Promise<(() => unknown) | undefined> {
  const module = (await import(pathToFileURL(resolve(path)).href)) as { readonly default?: unknown };
  return typeof module.default === 'function' ? (module.default as () => unknown) : undefined;
}
