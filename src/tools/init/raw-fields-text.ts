import type { InferredGraph } from './inferred-graph.ts';

/** Names the fields whose values Debezium wrote without a schema, with the setting that mends it: one line each. */
export function rawFieldsText({ objects }: InferredGraph): readonly string[] {
  return objects.flatMap(({ name, fields }) =>
    fields.flatMap((field) =>
      field.raw ? [`${name}.${field.name} has a value ${field.raw.likeness}; ${field.raw.fix}`] : [],
    ),
  );
}
