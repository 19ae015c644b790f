import { isJsonObject } from '../../../base/json/json-object.ts';
import { exactNumber } from '../../../base/json/exact-numbers.ts';
import { withoutSchema } from './connect.ts';
import { changeOf } from './debezium.ts';
import { rowOf } from './envelope.ts';
import type { Envelope, JsonObject } from './envelope.ts';
import { objectOfText } from './json-text.ts';

/** Debezium's changes of MongoDB's documents: `before` and `after` are texts of extended JSON. */
export const MONGODB: Envelope = {
  read: (value) => changeOf(withoutSchema(value), documentOf),
  rowMembers: ['before', 'after'],
  rowOfKey: (key) => {
    const id = isJsonObject(key) ? key['id'] : undefined;
    const value = plain(typeof id === 'string' ? idOfText(id) : id);
    return { id: value, _id: value };
  },
};

/** A key that is no text of extended JSON, as others than Debezium may write it, is the id itself. */
function idOfText(text: string): unknown {
  try {
    return objectOfText(`{"value":${text}}`)['value'];
  } catch {
    return text;
  }
}

function documentOf(value: unknown): JsonObject | null {
  return typeof value === 'string' ? (plain(objectOfText(value)) as JsonObject) : rowOf(value);
}

/**
 * Values of extended JSON as plain JSON: ids, decimals and binary data as texts, dates as ISO 8601, 64-bit integers as numbers, or as texts if a
 * double loses digits. https://www.mongodb.com/docs/manual/reference/mongodb-extended-json/
 */
export function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value);
  const [first = ''] = keys;
  const convert = keys.length === 1 && Object.hasOwn(TYPES, first) ? TYPES[first] : undefined;
  const converted = convert?.(value[first]);
  if (converted !== undefined) return converted;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
}

/** undefined: the value is not of the type. */
type Convert = (value: unknown) => unknown;

const textOf: Convert = (value) => (typeof value === 'string' ? value : undefined);
const numberOf: Convert = (value) => {
  if (typeof value !== 'string') return undefined;
  // JSON has no other numbers.
  return /^-?\d+$/.test(value) ? exactNumber(value) : Number.isFinite(Number(value)) ? Number(value) : null;
};

const TYPES: Readonly<Record<string, Convert>> = {
  $oid: textOf,
  $symbol: textOf,
  $uuid: textOf,
  $numberDecimal: textOf,
  $numberInt: numberOf,
  $numberLong: numberOf,
  $numberDouble: numberOf,
  $date: (value) => {
    const ms = isJsonObject(value) ? numberOf(value['$numberLong']) : value;
    if (typeof ms === 'string') return ms;
    return typeof ms === 'number' && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : undefined;
  },
  $binary: (value) => (isJsonObject(value) ? textOf(value['base64']) : textOf(value)),
  $timestamp: (value) =>
    isJsonObject(value) && typeof value['t'] === 'number' ? new Date(value['t'] * 1000).toISOString() : undefined,
};
