import lodash from 'lodash';
import type { Parts } from './parts.ts';
import { snakeCaseChain } from './snake-case-chain.ts';

type Tree = Record<string, unknown>;
export type Convert = (tree: Tree) => Tree;

/** Without lodash's chain and copies, but for every name `_.snakeCase` once more. */
function byIteration(tree: Tree, snakeCase: (key: string) => string): Tree {
  const convert = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map((item) => convert(item));
    return typeof value === 'object' && value !== null ? byIteration(value as Tree, snakeCase) : value;
  };
  return Object.fromEntries(Object.entries(tree).map(([key, value]) => [snakeCase(key), convert(value)]));
}

/** "We only have so many field names": lodash's memo has no bound, as the talk's had none. */
const memoised = lodash.memoize((key: string) => lodash.snakeCase(key));

/** Loops, a new object per `{}`, arrays reused: what shares the tree sees its arrays change, which is harmless only because twice is like once. */
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

/** snake_case as it was at each time; scalars are never touched. */
export const snakeCaseVersions: Readonly<Record<Parts['snakeCase'], Convert>> = {
  chain: snakeCaseChain,
  iteration: (tree) => byIteration(tree, (key) => lodash.snakeCase(key)),
  memoised: (tree) => byIteration(tree, memoised),
  'in-place': inPlace,
};
