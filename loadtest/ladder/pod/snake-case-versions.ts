import lodash from 'lodash';
import type { Parts } from './parts.ts';
import { snakeCaseChain } from './snake-case-chain.ts';

type Tree = Record<string, unknown>;
export type Convert = (tree: Tree) => Tree;

/** Without lodash's chain and copies. `_.snakeCase` still runs for every name. */
function byIteration(tree: Tree, snakeCase: (key: string) => string): Tree {
  const convert = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map((item) => convert(item));
    return typeof value === 'object' && value !== null ? byIteration(value as Tree, snakeCase) : value;
  };
  return Object.fromEntries(Object.entries(tree).map(([key, value]) => [snakeCase(key), convert(value)]));
}

/** Like the talk's memo, lodash's has no bound: the number of field names is small. */
const memoised = lodash.memoize((key: string) => lodash.snakeCase(key));

/**
 * Creates a new object per `{}` and changes arrays in place. Other users of the tree see the converted arrays, which is harmless
 * because a second conversion changes nothing.
 */
function inPlace(tree: Tree): Tree {
  const target: Tree = {};
  const keys = Object.keys(tree);
  for (let i = 0; i < keys.length; i++) target[memoised(keys[i]!)] = valueInPlace(tree[keys[i]!]);
  return target;
}

function valueInPlace(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value)) return inPlace(value as Tree);
  const items = value as unknown[];
  for (let i = 0; i < items.length; i++) items[i] = valueInPlace(items[i]);
  return items;
}

/** The talk's versions of the conversion. None changes scalars. */
export const snakeCaseVersions: Readonly<Record<Parts['snakeCase'], Convert>> = {
  chain: snakeCaseChain,
  iteration: (tree) => byIteration(tree, (key) => lodash.snakeCase(key)),
  memoised: (tree) => byIteration(tree, memoised),
  'in-place': inPlace,
};
