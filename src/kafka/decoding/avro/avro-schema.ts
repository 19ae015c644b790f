import avro from 'avsc';
import type { Schema, Type } from 'avsc';
import type { SchemaReference } from '../decoder.ts';
import { CONNECT_TYPES, ENUM_TYPE } from '../connect/connect-types.ts';
import { SchemaBudget } from './schema-budget.ts';

/** What the converters of Kafka Connect write beside a type. */
export const CONNECT_NAME = 'connect.name';
export const CONNECT_PARAMETERS = 'connect.parameters';

interface Attributes {
  /** Of Avro, or the name of a type of Kafka Connect. */
  readonly logicalType: string;
  readonly precision?: unknown;
  readonly scale?: unknown;
  readonly [CONNECT_NAME]?: unknown;
  readonly [CONNECT_PARAMETERS]?: unknown;
}

/** A type that means something else than what it is made of. Keeps what the schema says of it. */
export class LogicalType extends avro.types.LogicalType {
  readonly attributes: Attributes;

  constructor(schema: Schema, options?: unknown) {
    super(schema, options);
    this.attributes = schema as unknown as Attributes;
  }
}

/** The logical types of Avro that crier knows. A type with another one is what it is made of. */
const LOGICAL_TYPES: readonly string[] = [
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

const NAMED_TYPES: readonly string[] = [...CONNECT_TYPES, ENUM_TYPE];

/** Makes a type that only Kafka Connect names a logical one. */
function nameByConnect(schema: unknown): undefined {
  if (typeof schema !== 'object' || schema === null) return;
  const definition = schema as { logicalType: string; readonly [CONNECT_NAME]: string };
  const name = definition[CONNECT_NAME];
  if (NAMED_TYPES.includes(name) && !LOGICAL_TYPES.includes(definition.logicalType)) definition.logicalType = name;
}

/** @throws Error if a text is no Avro schema, or too large to compile; the message says why */
export function parseAvroSchema(text: string, references: readonly SchemaReference[]): Type {
  const options = {
    // Without prototypes: `toString` is no known type, `constructor` no logical one.
    registry: Object.create(null) as Record<string, Type>,
    logicalTypes: Object.assign(
      Object.create(null) as object,
      Object.fromEntries([...LOGICAL_TYPES, ...NAMED_TYPES].map((name) => [name, LogicalType])),
    ),
    typeHook: nameByConnect,
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
