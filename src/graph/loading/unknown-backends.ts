import { didYouMean } from '../../base/did-you-mean.ts';
import type { Graph } from '../graph-parts.ts';
import { backendVariable } from '../../config/backend-settings.ts';
import type { Config } from '../../config/config.ts';
import type { UnknownVariable } from '../../config/settings-input.ts';

/** The URLs of backends that the graph does not name. */
export function findUnknownBackends(
  { backends, names }: Pick<Config, 'backends' | 'names'>,
  { name, context }: Pick<Graph, 'name' | 'context'>,
): UnknownVariable[] {
  const known = context.backends ?? [];
  const keys = known.map(backendVariable);
  return Array.from(backends.keys())
    .filter((key) => !keys.includes(key))
    .map((key) => {
      const setting = names.backend(key, 'URL');
      const settings = known.map((one) => names.backend(one, 'URL'));
      const listed = [...known, key.replace(/^BACKEND_/, '').toLowerCase()].map((one) => `'${one}'`).join(', ');
      const fix = `; unset it, or name the backend in context.ts: export const backends = [${listed}]`;
      return {
        message: `${setting} names no backend of the graph "${name}"${didYouMean(setting, settings) || fix}`,
        isNear: true,
      };
    });
}
