import { connectType } from '../connect/connect-types.ts';
import type { ConnectParameters } from '../connect/connect-value.ts';
import { namedJson } from '../connect/named-json.ts';
import type { ReadValue } from '../record-bytes.ts';
import type { SchemaPlace } from '../schema-place.ts';
import { CONNECT_NAME, CONNECT_PARAMETERS } from './avro-schema.ts';
import type { LogicalType } from './avro-schema.ts';

/** Reads a type that Kafka Connect names. @param read what the type is made of */
export function connectReader({ attributes }: LogicalType, place: SchemaPlace, read: ReadValue): ReadValue {
  const parameters = Object(attributes[CONNECT_PARAMETERS]) as ConnectParameters;
  const convert = connectType(attributes[CONNECT_NAME], place.kinds, parameters);
  if (!convert) return read;
  return (bytes, levels) => {
    const value = convert(read(bytes, levels), bytes, levels);
    return typeof value === 'object' ? namedJson(value, place, bytes) : value;
  };
}
