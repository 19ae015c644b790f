import { didYouMean } from '../../base/did-you-mean.ts';
import type { Graph } from '../graph.ts';
import { backendVariable } from '../../config/backend-settings.ts';
import type { UnknownVariable } from '../../config/unknown-variables.ts';

/** The URLs of backends that the graph does not name. @param keys of `Config.backends` */
export function findUnknownBackends(
  keys: Iterable<string>,
  { name, context }: Pick<Graph, 'name' | 'context'>,
): UnknownVariable[] {
  const known = (context.backends ?? []).map(backendVariable);
  return Array.from(keys)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const near = didYouMean(
        urlVariable(key),
        known.map((one) => urlVariable(one)),
      );
      return { message: `${urlVariable(key)} names no backend of the graph "${name}"${near}`, isNear: true };
    });
}

/** @param key of `Config.backends` */
export function urlVariable(key: string): string {
  return `BACKEND_${key}_URL`;
}
