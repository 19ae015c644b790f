import lodash from 'lodash';

/** How the keys of a topic's records become keys of its payloads. `SNAKE`: in snake_case. `KEEP`: as they are. */
export type KeyNaming = 'SNAKE' | 'KEEP';

/** How the names of arguments become keys of the records that a mutation publishes. */
export type PublishNaming = KeyNaming | 'CAMEL';

/** Returns the name of a key in the payload, or in a published record. */
export function nameOf(naming: PublishNaming): (key: string) => string {
  if (naming === 'KEEP') return (key) => key;
  return naming === 'CAMEL' ? camelCaseName : snakeCaseName;
}

/** Keys that GraphQL reserves (`__typename`) and keys without a letter or digit (`$`) stay as they are. */
export function snakeCaseName(key: string): string {
  return key.startsWith('__') ? key : lodash.snakeCase(key) || key;
}

function camelCaseName(key: string): string {
  return lodash.camelCase(key) || key;
}
