import { Kind } from 'graphql';
import type { ConstValueNode, GraphQLEnumType, GraphQLSchema } from 'graphql';
import type { SettingNames } from '../../config/setting-names.ts';
import { didYouMean } from '../../base/did-you-mean.ts';

/** In Confluent's wire format: a zero byte and the id of a schema, before the record. */
const SCHEMA_FORMATS: readonly string[] = ['AVRO', 'PROTOBUF', 'JSON_SCHEMA'];

/** The formats of crier. A graph may bring others. */
export const RECORD_FORMATS = ['JSON', ...SCHEMA_FORMATS];

/** Reads the `format` of a @kafka. undefined: each record says it. */
export function readFormat(
  node: ConstValueNode | undefined,
  schema: GraphQLSchema,
  problems: string[],
): string | undefined {
  if (!node || node.kind === Kind.NULL) return undefined;
  const formats = (schema.getType('KafkaFormat') as GraphQLEnumType).getValues().map(({ name }) => name);
  const given = 'value' in node ? String(node.value) : '';
  const format = formats.find((one) => one === given);
  if (format !== undefined && node.kind === Kind.ENUM) return format;
  const fix = format === undefined ? didYouMean(given.toUpperCase(), formats) : `; write ${format}`;
  problems.push(`format must be one of ${formats.join(', ')}, without quotes${fix}`);
  return undefined;
}

/** What of a field's @kafka counts here. */
interface FormattedField {
  readonly field: string;
  readonly topics: readonly string[];
  readonly format?: string | undefined;
}

/** Why a field contradicts a field before it: a topic has one format, which one of its fields may say for all. */
export function formatProblem(
  { topics, format }: FormattedField,
  before: Iterable<FormattedField>,
): string | undefined {
  if (format === undefined) return undefined;
  for (const other of before) {
    const topic = topics.find((one) => other.topics.includes(one));
    if (topic === undefined || other.format === undefined || other.format === format) continue;
    return `format: ${format} contradicts Subscription.${other.field}, which reads the topic ${topic} with format: ${other.format}; give both the same`;
  }
  return undefined;
}

/** A line for each field whose format needs a schema registry. */
export function missingRegistryProblems(bindings: Iterable<FormattedField>, names: SettingNames): string[] {
  return [...bindings]
    .filter(({ format = 'JSON' }) => SCHEMA_FORMATS.includes(format))
    .map(
      ({ field, format }) =>
        `Subscription.${field}: format: ${format} needs ${names.SCHEMA_REGISTRY_URL}, which is not set; set it to the URL of the schema registry`,
    );
}
