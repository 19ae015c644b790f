import protobuf from 'protobufjs';
import type { Type } from 'protobufjs';
import type { SchemaFields } from '../decoder.ts';
import { openFields } from '../schema-fields.ts';
import type { SchemaPlace } from '../schema-place.ts';
import { connectBody } from './connect-messages.ts';
import { OPEN_TYPES, WELL_KNOWN } from './well-known.ts';

/** undefined: the type's values are no objects. */
export function protoFields(type: Type, place: SchemaPlace): SchemaFields | undefined {
  if (OPEN_TYPES.has(type.fullName)) {
    const open = openFields(() => open);
    return open;
  }
  if (WELL_KNOWN.has(type.fullName) || connectBody(type, place.kinds)) return undefined;
  const { fieldsArray } = type;
  const names = place.namesOf(fieldsArray.map(({ name }) => name));
  return {
    keys: names.filter((name) => name !== undefined),
    at: (key) => {
      const field = fieldsArray[names.indexOf(key)];
      if (!field) return undefined;
      const below = place.at(key);
      const { resolvedType } = field;
      const isMessage = resolvedType instanceof protobuf.Type;
      if (!field.map) return isMessage ? protoFields(resolvedType, below) : undefined;
      return openFields(() => (isMessage ? protoFields(resolvedType, below.at('')) : undefined));
    },
  };
}
