import type { Type } from 'protobufjs';
import type { ProtoMessage } from './proto-schema.ts';

/**
 * The messages of a file by the index that AWS Glue's serializers write before a record: all of them, with nested ones and those that stand for
 * the entries of maps, sorted by their full names. undefined: an entry of a map, which no record is.
 * https://github.com/awslabs/aws-glue-schema-registry/blob/master/serializer-deserializer/src/main/java/com/amazonaws/services/schemaregistry/serializers/protobuf/MessageIndexFinder.java
 */
export function messagesOfGlue(messages: readonly ProtoMessage[]): readonly (Type | undefined)[] {
  const types = new Map<string, Type | undefined>();
  for (const type of withNested(messages)) {
    types.set(type.fullName, type);
    for (const { map, name } of type.fieldsArray) if (map) types.set(`${type.fullName}.${entryName(name)}`, undefined);
  }
  // By UTF-16 code units, as Java compares texts.
  return [...types.keys()].sort().map((name) => types.get(name));
}

function withNested(messages: readonly ProtoMessage[]): readonly Type[] {
  return messages.flatMap(({ type, nested }) => [type, ...withNested(nested)]);
}

/** The name that protoc gives to the message of a map's entries: `LabelsByIdEntry` of `labels_by_id`. */
function entryName(field: string): string {
  return `${field.replace(/(?:^|_)_*([^_]?)/g, (_, letter: string) => letter.toUpperCase())}Entry`;
}
