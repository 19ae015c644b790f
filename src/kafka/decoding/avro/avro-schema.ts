import avro from 'avsc';
import type { Schema, Type } from 'avsc';
import type { SchemaReference } from '../decoder.ts';
import { SchemaBudget } from './schema-budget.ts';

interface Attributes {
  readonly logicalType: string;
  readonly precision?: unknown;
  readonly scale?: unknown;
}

/** A type that means something else than what it is made of. Keeps what the schema says of it. */
export class LogicalType extends avro.types.LogicalType {
  readonly attributes: Attributes;

  constructor(schema: Schema, options?: unknown) {
    super(schema, options);
    this.attributes = schema as unknown as Attributes;
  }
}

/** The logical types that crier knows. A type with another one is what it is made of. */
const LOGICAL_TYPES = [
  'decimal',
  'uuid',
  'duration',
  'date',
  'time-millis',
  'time-micros',
  'timestamp-millis',
  'timestamp-micros',
  'timestamp-nanos',
  'local-timestamp-millis',
  'local-timestamp-micros',
  'local-timestamp-nanos',
];

/** @throws Error if a text is no Avro schema, or too large to compile; the message says why */
export function parseAvroSchema(text: string, references: readonly SchemaReference[]): Type {
  const options = {
    // Without prototypes: `toString` is no known type, `constructor` no logical one.
    registry: Object.create(null) as Record<string, Type>,
    logicalTypes: Object.assign(
      Object.create(null) as object,
      Object.fromEntries(LOGICAL_TYPES.map((name) => [name, LogicalType])),
    ),
    // With the others, avsc refuses unions that Avro allows.
    wrapUnions: 'always' as const,
    omitRecordMethods: true,
  };
  const budget = new SchemaBudget();
  const typeOf = (json: string) => {
    const schema = JSON.parse(json) as Schema;
    budget.charge(schema);
    return avro.Type.forSchema(schema, options);
  };
  for (const reference of references) typeOf(reference.text);
  return typeOf(text);
}
