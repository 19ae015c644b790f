import { getNullableType, isInterfaceType, isObjectType, isScalarType, isSpecifiedScalarType } from 'graphql';
import type { GraphQLField, GraphQLObjectType, GraphQLSchema } from 'graphql';
import type { ExecutionContext } from '../context/context.ts';
import type { EventRecord } from '../context/event-record.ts';
import { SourceRecords } from '../context/source-records.ts';
import { directiveOf } from './field-directive.ts';
import { lineOf } from './problem.ts';
import { typesReachedBy } from './record-demand.ts';
import { recordUseOf } from './record-use.ts';
import type { RecordUse } from './record-use.ts';

type Field = GraphQLField<unknown, unknown>;

/** What a @record fills a field with. */
interface Part {
  /** Names of the scalars that can hold the value; `custom` is any custom scalar. */
  readonly types: readonly string[];
  /** `name`: of a header. */
  readonly valueOf: (record: EventRecord, type: string, name: string) => unknown;
}

const TEXT = ['String', 'ID', 'custom'];

const UNREACHED = 'is on a type that no @kafka field reaches; remove it, or return the type from a @kafka field';

/** Of `Date`; a producer may send any 64-bit number. */
const MAX_TIMESTAMP = 8.64e15;

const PARTS: Readonly<Record<string, Part>> = {
  TIMESTAMP: {
    types: ['String', 'Float', 'custom'],
    valueOf: ({ timestamp }, type) => {
      if (timestamp <= 0 || timestamp > MAX_TIMESTAMP) return null;
      return type === 'Float' ? timestamp : new Date(timestamp).toISOString();
    },
  },
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
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const use = recordUseOf(field);
      if (!use) continue;
      const part = Object.hasOwn(PARTS, use.part) ? PARTS[use.part] : undefined;
      const problem = isObjectType(type)
        ? (problemOf(schema, type, field, use, part) ?? (reached.has(type) ? undefined : UNREACHED))
        : 'is on an interface; put @record on the same field of its object types';
      if (problem === undefined) attach(field, part!, use.name ?? '');
      else problems.push(`${lineOf(use.directive)}${type.name}.${field.name}: @record ${problem}`);
    }
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
  if ([schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].includes(type)) {
    return `is on a field of ${type.name}; put it on a field of a type that a @kafka field returns`;
  }
  if (field.resolve) return 'is on a field that has a resolver; remove one of them';
  if (partName === 'HEADER' && !name) return 'HEADER needs the name of the header; add name: "tenant"';
  if (partName !== 'HEADER' && name !== undefined) return `${partName} has no name; remove it, or use HEADER`;
  if (part.types.includes(kindOf(field))) return undefined;
  const types = part.types.map((one) => (one === 'custom' ? 'a custom scalar' : one)).join(', ');
  const isTooSmall = kindOf(field) === 'Int' && part.types.includes('Float');
  const reason = isTooSmall ? ', because an Int has 32 bits' : '';
  return `${partName} does not fit the type ${String(field.type)}${reason}; use one of ${types}`;
}

function kindOf({ type }: Field): string {
  const named = getNullableType(type);
  if (!isScalarType(named)) return '';
  return isSpecifiedScalarType(named) ? named.name : 'custom';
}

function attach(field: Field, { valueOf }: Part, header: string): void {
  const { name } = field;
  const type = kindOf(field);
  field.resolve = (source, _args, context) => {
    const record = (context as ExecutionContext).record ?? SourceRecords.of(source);
    if (record) return valueOf(record, type, header);
    return typeof source === 'object' && source !== null && Object.hasOwn(source, name)
      ? (source as Record<string, unknown>)[name]
      : undefined;
  };
}
