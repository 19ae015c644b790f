import { Kind } from 'graphql';
import type { ConstValueNode } from 'graphql';
import { INSTALL_GLUE } from '../../config/glue-package.ts';
import type { SettingNames } from '../../config/setting-names.ts';

/** Records name a schema of the registry. */
const SCHEMA_FORMATS: readonly string[] = ['AVRO', 'PROTOBUF', 'JSON_SCHEMA'];

/** The formats of crier. A graph may bring others. */
export const RECORD_FORMATS = ['JSON', ...SCHEMA_FORMATS];

/** Those whose records say nothing without a schema. */
const BINARY_FORMATS: readonly (string | undefined)[] = ['AVRO', 'PROTOBUF'];

/** Reads the `subject` of a @kafka. undefined: records name their schema. */
export function readSubject(
  node: ConstValueNode | undefined,
  format: string | undefined,
  problems: string[],
): string | undefined {
  if (!node || node.kind === Kind.NULL) return undefined;
  if (node.kind !== Kind.STRING || node.value === '') {
    problems.push('subject must be the name of a subject of the schema registry in quotes, such as "orders-value"');
    return undefined;
  }
  if (!BINARY_FORMATS.includes(format))
    problems.push(
      'subject is of records without a header, in Avro or Protobuf: add format: AVRO or format: PROTOBUF, or remove it',
    );
  return node.value;
}

/** What of a field's @kafka counts here. */
interface FormattedField {
  readonly field: string;
  readonly topics: readonly string[];
  readonly format?: string | undefined;
  readonly subject?: string | undefined;
}

/** Why a field contradicts a field before it: a topic has one format, which one of its fields may say for all. */
export function formatProblem(field: FormattedField, before: Iterable<FormattedField>): string | undefined {
  return contradiction('format', field, before);
}

/** Likewise for the subject. */
export function subjectProblem(field: FormattedField, before: Iterable<FormattedField>): string | undefined {
  return contradiction('subject', field, before);
}

function contradiction(
  name: 'format' | 'subject',
  { topics, [name]: said }: FormattedField,
  before: Iterable<FormattedField>,
): string | undefined {
  if (said === undefined) return undefined;
  for (const other of before) {
    const topic = topics.find((one) => other.topics.includes(one));
    if (topic === undefined || other[name] === undefined || other[name] === said) continue;
    return `${name}: ${said} contradicts Subscription.${other.field}, which reads the topic ${topic} with ${name}: ${other[name]}; give both the same`;
  }
  return undefined;
}

/**
 * A line for each field that needs a schema registry with the API of Confluent, which is not set.
 * @param hasGlue true if records of AWS Glue are decoded
 */
export function missingRegistryProblems(
  bindings: Iterable<FormattedField>,
  names: SettingNames,
  hasGlue: boolean,
): string[] {
  return [...bindings].flatMap(({ field, format = 'JSON', subject }) => {
    if (!SCHEMA_FORMATS.includes(format)) return [];
    const needed = `Subscription.${field}: format: ${format} needs ${names.SCHEMA_REGISTRY_URL}, which is not set; set it to the URL of the schema registry`;
    if (subject !== undefined) return [needed];
    return hasGlue ? [] : [`${needed} (for AWS Glue: ${INSTALL_GLUE})`];
  });
}
