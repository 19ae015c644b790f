import protobuf from 'protobufjs';
import type { NamespaceBase, Type } from 'protobufjs';

/**
 * Replaces each list of messages that stand for the entries of a map by the map: printers of descriptors, such as AWS Glue's serializers, write
 * the message of the entries with `option map_entry` instead of `map<…>`.
 */
export function restoreMaps(scope: NamespaceBase): void {
  for (const nested of scope.nestedArray) {
    if (nested instanceof protobuf.Type) restoreMapsOf(nested);
    if (nested instanceof protobuf.Namespace) restoreMaps(nested);
  }
}

function restoreMapsOf(type: Type): void {
  for (const entry of type.nestedArray) {
    if (!(entry instanceof protobuf.Type) || entry.options?.['map_entry'] !== true) continue;
    const { key, value } = entry.fields;
    const field = type.fieldsArray.find((one) => one.repeated && one.type.split('.').at(-1) === entry.name);
    if (!field || !key || !value) continue;
    type.remove(field);
    type.remove(entry);
    type.add(new protobuf.MapField(field.name, field.id, key.type, value.type));
  }
}
