import { didYouMean } from '../../base/did-you-mean.ts';
import { tunableNames, variables } from '../../config/variables.ts';

/** A key of a file that changes nothing. */
export interface IgnoredKey {
  /** The key, with the reason or a hint. */
  readonly message: string;
  /** True if a tunable setting has nearly the same name. */
  readonly isNear: boolean;
}

/** @param idle settings that change nothing in this pod, each with the reason */
export function ignoredKeys(keys: readonly string[], idle: ReadonlyMap<string, string>): IgnoredKey[] {
  const known: readonly string[] = tunableNames;
  return keys.flatMap((key) => {
    const reason = idle.get(key) ?? (key in variables ? 'changes only at a restart' : undefined);
    if (known.includes(key) && !idle.has(key)) return [];
    if (reason !== undefined) return [{ message: `${key}: ${reason}`, isNear: false }];
    const near = didYouMean(key, known);
    return [{ message: `${key}${near}`, isNear: near !== '' }];
  });
}
