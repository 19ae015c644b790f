import type { SettingNames } from '../../config/setting-names.ts';

/** In Confluent's wire format: a zero byte and the id of a schema, before the record. */
const SCHEMA_FORMATS: readonly string[] = ['AVRO', 'PROTOBUF', 'JSON_SCHEMA'];

/** The formats of crier. A graph may bring others. */
export const RECORD_FORMATS = ['JSON', ...SCHEMA_FORMATS];

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
