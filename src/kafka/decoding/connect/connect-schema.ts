import { isJsonObject } from '../../../base/json/json-object.ts';
import type { SchemaPlace } from '../schema-place.ts';
import { connectType } from './connect-types.ts';
import type { ConnectParameters, ConvertValue } from './connect-value.ts';

/** A schema as JsonConverter of Kafka Connect writes it, beside the payload. https://cwiki.apache.org/confluence/x/-5g0 */
interface ConnectSchema {
  readonly type?: unknown;
  readonly name?: unknown;
  readonly parameters?: unknown;
  readonly fields?: unknown;
  readonly items?: unknown;
  readonly keys?: unknown;
  readonly values?: unknown;
}

interface ConvertedField {
  readonly key: string;
  readonly convert: ConvertValue;
}

/**
 * Compiles the conversion of the values of a schema, whose keys are still as producers write them. undefined: no value needs one.
 * @param schema what JSON has; what is no schema needs none
 * @param place of the value
 */
export function connectValues(schema: unknown, place: SchemaPlace): ConvertValue | undefined {
  const { type, name, parameters, fields, items, keys, values } = Object(schema) as ConnectSchema;
  const convert = connectType(name, place.kinds, Object(parameters) as ConnectParameters);
  if (convert) return convert;
  if (type === 'struct') return structConverter(Array.isArray(fields) ? fields : [], place);
  if (type === 'array') return listConverter(connectValues(items, place));
  if (type !== 'map') return undefined;
  const convertValue = connectValues(values, place.at(''));
  // Of other keys, a list of pairs.
  return (Object(keys) as ConnectSchema).type === 'string' ? mapConverter(convertValue) : pairsConverter(convertValue);
}

function structConverter(fields: readonly unknown[], place: SchemaPlace): ConvertValue | undefined {
  const converted = fields.flatMap((schema): readonly ConvertedField[] => {
    const { field: key } = Object(schema) as { readonly field?: unknown };
    if (typeof key !== 'string' || key === '__proto__') return [];
    const convert = connectValues(schema, place.at(place.nameOf(key)));
    return convert ? [{ key, convert }] : [];
  });
  if (converted.length === 0) return undefined;
  return (value, texts, levels) => {
    if (!isJsonObject(value)) return value;
    for (const { key, convert } of converted) {
      const before = value[key];
      if (before !== undefined && before !== null) value[key] = convert(before, texts, levels - 1);
    }
    return value;
  };
}

function listConverter(convert: ConvertValue | undefined): ConvertValue | undefined {
  if (!convert) return undefined;
  return (value, texts, levels) => {
    if (!Array.isArray(value)) return value;
    const items = value as unknown[];
    for (let i = 0; i < items.length; i++) if (items[i] !== null) items[i] = convert(items[i], texts, levels - 1);
    return items;
  };
}

function mapConverter(convert: ConvertValue | undefined): ConvertValue | undefined {
  if (!convert) return undefined;
  return (value, texts, levels) => {
    if (!isJsonObject(value)) return value;
    for (const key of Object.keys(value)) {
      if (value[key] !== null && key !== '__proto__') value[key] = convert(value[key], texts, levels - 1);
    }
    return value;
  };
}

function pairsConverter(convert: ConvertValue | undefined): ConvertValue | undefined {
  if (!convert) return undefined;
  return listConverter((pair, texts, levels) => {
    if (!Array.isArray(pair)) return pair;
    const entry = pair as unknown[];
    if (entry.length === 2 && entry[1] !== null) entry[1] = convert(entry[1], texts, levels - 1);
    return entry;
  });
}
