import avro from 'avsc';
import type { Type } from 'avsc';
import type { SchemaFields } from '../decoder.ts';
import { JSON_TYPE } from '../connect/connect-types.ts';
import { mergedFields, openFields } from '../schema-fields.ts';
import type { SchemaPlace } from '../schema-place.ts';
import { CONNECT_NAME, LogicalType } from './avro-schema.ts';

const { ArrayType, MapType, RecordType, WrappedUnionType } = avro.types;

const JSON_FIELDS: SchemaFields = openFields(() => JSON_FIELDS);

/** undefined: the type's values are no objects. */
export function avroFields(type: Type, place: SchemaPlace): SchemaFields | undefined {
  if (type instanceof LogicalType)
    return type.attributes[CONNECT_NAME] === JSON_TYPE ? JSON_FIELDS : avroFields(type.underlyingType, place);
  if (type instanceof WrappedUnionType) return mergedFields(type.types.map((branch) => avroFields(branch, place)));
  if (type instanceof ArrayType) return avroFields(type.itemsType, place);
  if (type instanceof MapType) {
    const values = type.valuesType as Type;
    return openFields(() => avroFields(values, place.at('')));
  }
  if (!(type instanceof RecordType)) return undefined;
  const { fields } = type;
  const names = place.namesOf(fields.map(({ name }) => name));
  return {
    keys: names.filter((name) => name !== undefined),
    at: (key) => {
      const field = fields[names.indexOf(key)];
      return field && avroFields(field.type, place.at(key));
    },
  };
}
