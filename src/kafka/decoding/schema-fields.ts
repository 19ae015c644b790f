import type { SchemaFields } from './decoder.ts';

/** An object whose keys are data. @param valuesAt the place below its values */
export function openFields(valuesAt: () => SchemaFields | undefined): SchemaFields {
  return { keys: undefined, at: valuesAt };
}

/** What an object has that is of one of several schemas. undefined: none of them is of an object. */
export function mergedFields(of: readonly (SchemaFields | undefined)[]): SchemaFields | undefined {
  const objects = of.filter((fields) => fields !== undefined);
  if (objects.length < 2) return objects[0];
  const keys = objects.some((fields) => fields.keys === undefined)
    ? undefined
    : [...new Set(objects.flatMap((fields) => fields.keys ?? []))];
  return { keys, at: (key) => mergedFields(objects.map((fields) => fields.at(key))) };
}
