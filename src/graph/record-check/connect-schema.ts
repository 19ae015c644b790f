import { snakeCaseName } from '../../base/json/key-naming.ts';
import { isJsonObject } from '../../base/json/json-object.ts';

/** Types whose values say nothing without the type's name, unless they are texts. */
const RAW =
  /^(?:org\.apache\.kafka\.connect\.data\..*|io\.debezium\.time\.(?!Year$).*|io\.debezium\.data\.(?:Bits|VariableScaleDecimal))$/;

interface SchemaType {
  /** Of the type. */
  readonly name: string;
  /** With which crier reads the schema. */
  readonly envelope: string;
}

/**
 * The type of the value at a path of a record that has a schema of Kafka Connect in itself, which was not used. undefined: the record has none, or
 * the value is what a field reads.
 * @param path in the record, beginning with `payload`
 */
export function connectTypeAt(
  record: Readonly<Record<string, unknown>>,
  path: readonly string[],
): SchemaType | undefined {
  const [first, ...keys] = path;
  if (first !== 'payload') return undefined;
  let schema = record['schema'];
  for (const key of keys) schema = fieldsOf(itemOf(schema)).find((field) => isNamed(field, key));
  const value = itemOf(schema);
  if (!isJsonObject(value) || value['type'] === 'string') return undefined;
  const { name } = value;
  return typeof name === 'string' && RAW.test(name) ? { name, envelope: envelopeOf(record['schema']) } : undefined;
}

/** Of a list, the schema of its items. */
function itemOf(schema: unknown): unknown {
  return isJsonObject(schema) && schema['type'] === 'array' ? itemOf(schema['items']) : schema;
}

function fieldsOf(schema: unknown): readonly unknown[] {
  return isJsonObject(schema) && Array.isArray(schema['fields']) ? schema['fields'] : [];
}

/** @param key of a payload, which may be renamed */
function isNamed(field: unknown, key: string): boolean {
  const name = isJsonObject(field) ? field['field'] : undefined;
  return typeof name === 'string' && (name === key || snakeCaseName(name) === key);
}

function envelopeOf(schema: unknown): string {
  const has = (key: string) => fieldsOf(schema).some((field) => isNamed(field, key));
  if (has('op') && has('after')) return 'DEBEZIUM';
  return has('__op') || has('__deleted') ? 'DEBEZIUM_FLAT' : 'CONNECT';
}
