import { isObjectType } from 'graphql';
import type { GraphQLField, GraphQLObjectType, GraphQLSchema } from 'graphql';
import type { ExecutionContext } from '../context/context.ts';
import type { EventRecord } from '../context/event-record.ts';
import { SourceEvents } from '../context/source-events.ts';
import { directiveOf } from './field-directive.ts';
import { TEXT, TIME, fieldsOf, listedKinds, placeProblem, scalarKindOf, timeValue } from './filled-field.ts';
import { lineOf } from './problem.ts';
import { typesReachedBy } from './record-demand.ts';
import { recordUseOf } from './record-use.ts';
import type { RecordUse } from './record-use.ts';

type Field = GraphQLField<unknown, unknown>;

/** What a @record fills a field with. */
interface Part {
  /** Kinds of fields that can hold the value (`scalarKindOf`). */
  readonly types: readonly string[];
  /** `name`: of a header. */
  readonly valueOf: (record: EventRecord, type: string, name: string) => unknown;
}

const UNREACHED = 'is on a type that no @kafka field reaches; remove it, or return the type from a @kafka field';

const PARTS: Readonly<Record<string, Part>> = {
  TIMESTAMP: { types: TIME, valueOf: ({ timestamp }, type) => timeValue(timestamp, type) },
  TOPIC: { types: TEXT, valueOf: ({ topic }) => topic },
  PARTITION: { types: ['Int', 'Float', ...TEXT], valueOf: ({ partition }) => partition },
  OFFSET: { types: ['Float', ...TEXT], valueOf: ({ offset }) => offset },
  KEY: { types: TEXT, valueOf: ({ key }) => key },
  HEADER: { types: TEXT, valueOf: ({ headers }, _type, name) => headers[name] },
};

/**
 * Gives each field with @record its resolver. Where there is no record (a mutation, a query of no state, a source that is not Kafka) the
 * field is the property of its name.
 * @param schema with resolvers attached
 * @returns one line for each mistake
 */
export function attachRecordFields(schema: GraphQLSchema): string[] {
  const problems: string[] = [];
  const fields = Object.values(schema.getSubscriptionType()?.getFields() ?? {});
  const fed = fields.filter((field) => directiveOf(field, 'kafka'));
  const reached = new Set(fed.flatMap((field) => [...typesReachedBy(schema, field)]));
  for (const { type, field } of fieldsOf(schema)) {
    const use = recordUseOf(field);
    if (!use) continue;
    const part = Object.hasOwn(PARTS, use.part) ? PARTS[use.part] : undefined;
    const problem = isObjectType(type)
      ? (problemOf(schema, type, field, use, part) ?? (reached.has(type) ? undefined : UNREACHED))
      : 'is on an interface; put @record on the same field of its object types';
    if (problem === undefined) attach(field, part!, use.name ?? '');
    else problems.push(`${lineOf(use.directive)}${type.name}.${field.name}: @record ${problem}`);
  }
  return problems;
}

function problemOf(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  field: Field,
  { part: partName, name }: RecordUse,
  part: Part | undefined,
): string | undefined {
  if (!part) return `field must be one of ${Object.keys(PARTS).join(', ')}, without quotes; got ${partName}`;
  const misplaced = placeProblem(schema, type, field);
  if (misplaced !== undefined) return misplaced;
  if (partName === 'HEADER' && !name) return 'HEADER needs the name of the header; add name: "tenant"';
  if (partName !== 'HEADER' && name !== undefined) return `${partName} has no name; remove it, or use HEADER`;
  const kind = scalarKindOf(field);
  if (part.types.includes(kind)) return undefined;
  const reason = kind === 'Int' && part.types.includes('Float') ? ', because an Int has 32 bits' : '';
  return `${partName} does not fit the type ${String(field.type)}${reason}; use one of ${listedKinds(part.types)}`;
}

function attach(field: Field, { valueOf }: Part, header: string): void {
  const { name } = field;
  const type = scalarKindOf(field);
  field.resolve = (source, _args, context) => {
    const record = (context as ExecutionContext).record ?? SourceEvents.of(source)?.record;
    if (record) return valueOf(record, type, header);
    return typeof source === 'object' && source !== null && Object.hasOwn(source, name)
      ? (source as Record<string, unknown>)[name]
      : undefined;
  };
}
