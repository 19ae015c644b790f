import lodash from 'lodash';

/** How the keys of a topic's records become keys of its payloads. `SNAKE`: in snake_case. `KEEP`: as they are. */
export type KeyNaming = 'SNAKE' | 'KEEP';

/** Returns the name of a key in the payload. */
export function nameOf(naming: KeyNaming): (key: string) => string {
  return naming === 'KEEP' ? (key) => key : snakeCaseName;
}

/** Keys that GraphQL reserves (`__typename`) and keys without a letter or digit (`$`) stay as they are. */
export function snakeCaseName(key: string): string {
  return key.startsWith('__') ? key : lodash.snakeCase(key) || key;
}
