import type { Operation } from './operation.ts';

/**
 * Equal for two subscriptions of one channel exactly where they are the same operation of the same document with the same
 * variables: coerced, so that the ID 1 is "1" and a left-out variable is its default, while null is not "left out". Where a
 * custom scalar coerces to something that has no text of its own (a Date, a Map), the variables count as they were sent.
 * @returns undefined where those are nested too deep: such a subscription shares with nobody.
 */
export function sharingKey(
  operation: Pick<Operation, 'key' | 'name'>,
  coerced: Readonly<Record<string, unknown>>,
  sent: Readonly<Record<string, unknown>> | undefined,
): string | undefined {
  const lead = `${operation.key} ${operation.name ?? ''}`;
  const variables = textOf(coerced, MAX_DEPTH);
  if (variables !== undefined) return `${lead} ${variables}`;
  const asSent = textOf(sent, MAX_DEPTH);
  return asSent === undefined ? undefined : `${lead} sent ${asSent}`;
}

/** A custom scalar may coerce to an object without end. */
const MAX_DEPTH = 32;

/**
 * A text that only an equal value has; undefined where the value is not plain data. The order of keys counts: coercion
 * puts those of variables and input objects in the schema's, and in a custom scalar a resolver may see it.
 */
function textOf(value: unknown, levels: number): string | undefined {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'boolean' || value === undefined || value === null) return String(value);
  if (typeof value !== 'object' || levels === 0) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) {
    // What RegExp's exec gives has members beside its items.
    if (prototype !== Array.prototype || Reflect.ownKeys(value).length !== value.length + 1) return undefined;
    const items = Array.from(value, (item) => textOf(item, levels - 1));
    return items.includes(undefined) ? undefined : `[${items.join()}]`;
  }
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  const entries = Object.entries(value);
  // Neither symbols nor what is not enumerable.
  if (Reflect.ownKeys(value).length !== entries.length) return undefined;
  let text = '{';
  for (const [key, inner] of entries) {
    const innerText = textOf(inner, levels - 1);
    if (innerText === undefined) return undefined;
    text += `${JSON.stringify(key)}:${innerText},`;
  }
  return `${text}}`;
}
