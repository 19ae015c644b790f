import type { RegisteredSchema, SchemaType } from './schema-registry.ts';
import type { DescribeSchema, NamesOf, ValueType } from './value-type.ts';

const DESCRIBERS: Readonly<Record<SchemaType, () => Promise<DescribeSchema>>> = {
  AVRO: async () => (await import('./avro/avro-types.ts')).describeAvro,
  PROTOBUF: async () => (await import('./protobuf/proto-types.ts')).describeProtobuf,
  JSON: async () => (await import('./json-schema-types.ts')).describeJsonSchema,
};

/** What a registered schema says of its values. @throws Error that says why the schema cannot be used */
export async function describeSchema(
  { type, text, references }: RegisteredSchema,
  namesOf: NamesOf,
): Promise<ValueType> {
  const describe = await DESCRIBERS[type]();
  return describe(text, references, namesOf);
}
