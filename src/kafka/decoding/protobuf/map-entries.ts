import protobuf from 'protobufjs';
import type { Field, NamespaceBase, Type } from 'protobufjs';

/**
 * Replaces each list of messages that stand for the entries of a map by the map: printers of descriptors, such as AWS Glue's serializers, write
 * the message of the entries with `option map_entry` instead of `map<…>`. A list whose entries protoc would not have made stays a list.
 */
export function restoreMaps(root: NamespaceBase): void {
  const types = typesIn(root);
  const entries = new Set(types.filter((type) => type.options?.['map_entry'] === true));
  if (entries.size === 0) return;
  const users = new Map<Type, Field[]>();
  for (const field of types.flatMap(({ fieldsArray }) => fieldsArray)) {
    const type = field.parent!.lookup(field.type, [protobuf.Type]) as Type | null;
    if (type && entries.has(type)) users.set(type, [...(users.get(type) ?? []), field]);
  }
  for (const [entry, [field, ...others]] of users) if (others.length === 0) restoreMap(entry, field!);
}

function restoreMap(entry: Type, field: Field): void {
  const { key, value } = entry.fields;
  const type = field.parent!;
  if (type !== entry.parent || !field.repeated || entry.nestedArray.length > 0) return;
  if (!key || !value || value.repeated || !(key.type in protobuf.types.mapKey)) return;
  type.remove(field);
  type.remove(entry);
  type.add(new protobuf.MapField(field.name, field.id, key.type, value.type));
}

function typesIn(scope: NamespaceBase): readonly Type[] {
  return scope.nestedArray.flatMap((nested) => [
    ...(nested instanceof protobuf.Type ? [nested] : []),
    ...(nested instanceof protobuf.Namespace ? typesIn(nested) : []),
  ]);
}
