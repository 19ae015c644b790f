import lodash from 'lodash';

type Tree = Record<string, unknown>;

/** The story's first version: a lodash chain that copies the remaining tree again on every level. */
export function snakeCaseChain(tree: Tree): Tree {
  return lodash
    .chain(tree)
    .cloneDeep()
    .mapKeys((_value, key) => lodash.snakeCase(key))
    .mapValues(convertValue)
    .value();
}

function convertValue(value: unknown): unknown {
  if (lodash.isPlainObject(value)) return snakeCaseChain(value as Tree);
  return Array.isArray(value) ? value.map(convertValue) : value;
}
