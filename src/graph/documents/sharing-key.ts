import type { Operation } from './operation.ts';

/**
 * A key that is equal for two subscriptions of one channel exactly if they are the same operation of the same document with the same
 * coerced variables: the ID 1 is "1", an absent variable is its default, and null is not absent. If a custom scalar coerces to an
 * object without a canonical text (a Date, a Map), the variables are taken as they were sent.
 * @returns undefined if they are nested too deep: the subscription shares with nobody.
 */
export function sharingKey(
  operation: Pick<Operation, 'key' | 'name'>,
  coerced: Readonly<Record<string, unknown>>,
  sent: Readonly<Record<string, unknown>> | undefined,
): string | undefined {
  const prefix = `${operation.key} ${operation.name ?? ''}`;
  const variables = textOf(coerced, MAX_DEPTH);
  if (variables !== undefined) return `${prefix} ${variables}`;
  const asSent = textOf(sent, MAX_DEPTH);
  return asSent === undefined ? undefined : `${prefix} sent ${asSent}`;
}

/** Bounds the recursion: a custom scalar may coerce to a cyclic object. */
const MAX_DEPTH = 32;

/**
 * The canonical text of plain data; undefined for any other value. The order of keys counts: coercion sorts those of variables and input
 * objects as in the schema, and a resolver may see their order in a custom scalar.
 */
function textOf(value: unknown, levels: number): string | undefined {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'boolean' || value === undefined || value === null) return String(value);
  if (typeof value !== 'object' || levels === 0) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) {
    // The result of RegExp's `exec` has properties beside its items.
    if (prototype !== Array.prototype || Reflect.ownKeys(value).length !== value.length + 1) return undefined;
    const items = Array.from(value, (item) => textOf(item, levels - 1));
    return items.includes(undefined) ? undefined : `[${items.join()}]`;
  }
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  const entries = Object.entries(value);
  // Symbols and non-enumerable properties have no text.
  if (Reflect.ownKeys(value).length !== entries.length) return undefined;
  let text = '{';
  for (const [key, inner] of entries) {
    const innerText = textOf(inner, levels - 1);
    if (innerText === undefined) return undefined;
    text += `${JSON.stringify(key)}:${innerText},`;
  }
  return `${text}}`;
}
