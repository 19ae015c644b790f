import type { PayloadTexts } from './connect-value.ts';
import type { SchemaPlace } from '../schema-place.ts';

/**
 * JSON that a record holds as a text, with the names of its place and without what JSON cannot print.
 * @param value of JSON.parse
 */
export function namedJson(value: unknown, place: SchemaPlace, texts: Pick<PayloadTexts, 'beyondJson'>): unknown {
  if (value === Infinity || value === -Infinity) return texts.beyondJson();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => namedJson(item, place, texts));
  const source = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(source);
  const names = place.namesOf(keys);
  const named: Record<string, unknown> = {};
  for (const [i, name] of names.entries()) {
    if (name !== undefined) named[name] = namedJson(source[keys[i]!], place.at(name), texts);
  }
  return named;
}
