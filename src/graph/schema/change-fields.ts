import { getNullableType, isEnumType, isObjectType } from 'graphql';
import type { GraphQLField, GraphQLSchema } from 'graphql';
import type { Change } from '../../bus/change-text.ts';
import { changeOf } from '../context/context.ts';
import { SourceEvents } from '../context/source-events.ts';
import type { Binding } from './binding.ts';
import { changePartOf } from './change-demand.ts';
import { directiveOf } from './field-directive.ts';
import { TEXT, TIME, fieldsOf, listedKinds, placeProblem, scalarKindOf, timeValue } from './filled-field.ts';
import type { OwnedField } from './filled-field.ts';
import { lineOf } from './problem.ts';
import { typesReachedBy } from './record-demand.ts';

type Field = GraphQLField<unknown, unknown>;

/** What a @change fills a field with. */
interface Part {
  /** Why the field cannot hold the value; undefined: it can. */
  readonly misfitOf: (field: Field) => string | undefined;
  readonly valueOf: (change: Change, field: Field) => unknown;
}

const OPERATIONS = ['CREATE', 'UPDATE', 'DELETE', 'READ'];

const PARTS: Readonly<Record<string, Part>> = {
  OP: { misfitOf: opMisfit, valueOf: ({ op }, field) => (op === undefined ? null : opValue(op, field)) },
  BEFORE: {
    misfitOf: ({ type }) =>
      isObjectType(getNullableType(type)) ? undefined : 'an object type, which the row before is read as',
    valueOf: ({ before }) => before ?? null,
  },
  SOURCE_TIMESTAMP: {
    misfitOf: misfitOfScalars(TIME),
    valueOf: ({ sourceTimestamp = 0 }, field) => timeValue(sourceTimestamp, scalarKindOf(field)),
  },
  TRANSACTION: { misfitOf: misfitOfScalars(TEXT), valueOf: ({ transaction }) => transaction ?? null },
  SNAPSHOT: { misfitOf: misfitOfScalars(['Boolean']), valueOf: ({ isSnapshot }) => isSnapshot === true },
};

const UNREACHED =
  'is on a type that no field with an envelope reaches; remove it, or add envelope to the @kafka of a field that returns the type';

/**
 * Gives each field with @change its resolver. Where nothing has changed (a mutation, a query of no state, an event of another source, a
 * message from before its topic had an envelope) the field is null.
 * @param schema with resolvers attached
 * @returns one line for each mistake
 */
export function attachChangeFields(schema: GraphQLSchema): string[] {
  return problemsOfUses(schema, (use) => {
    const part = Object.hasOwn(PARTS, use.part) ? PARTS[use.part] : undefined;
    const problem = problemOf(schema, use, part);
    if (problem === undefined) attach(use.field, part!);
    return problem;
  });
}

/** A line for each @change that no event with a change reaches. @param bindings of all fields that have a @kafka */
export function unreachedChanges(schema: GraphQLSchema, bindings: ReadonlyMap<string, Binding>): string[] {
  const fields = Object.values(schema.getSubscriptionType()?.getFields() ?? {});
  const fed = fields.filter(({ name }) => bindings.get(name)?.envelope !== undefined);
  const reached = new Set<unknown>(fed.flatMap((field) => [...typesReachedBy(schema, field)]));
  return problemsOfUses(schema, ({ type }) => (reached.has(type) ? undefined : UNREACHED));
}

interface Use extends OwnedField {
  readonly part: string;
}

function problemsOfUses(schema: GraphQLSchema, problemOfUse: (use: Use) => string | undefined): string[] {
  const problems: string[] = [];
  for (const { type, field } of fieldsOf(schema)) {
    const part = changePartOf(field);
    const problem = part === undefined ? undefined : problemOfUse({ type, field, part });
    if (problem === undefined) continue;
    problems.push(`${lineOf(directiveOf(field, 'change'))}${type.name}.${field.name}: @change ${problem}`);
  }
  return problems;
}

function problemOf(
  schema: GraphQLSchema,
  { type, field, part: name }: Use,
  part: Part | undefined,
): string | undefined {
  if (!part) return `field must be one of ${Object.keys(PARTS).join(', ')}, without quotes; got ${name}`;
  if (!isObjectType(type)) return 'is on an interface; put @change on the same field of its object types';
  const misplaced = placeProblem(schema, type, field);
  if (misplaced !== undefined) return misplaced;
  const misfit = part.misfitOf(field);
  return misfit === undefined ? undefined : `${name} does not fit the type ${String(field.type)}; use ${misfit}`;
}

function misfitOfScalars(kinds: readonly string[]): Part['misfitOf'] {
  const mend = kinds.length === 1 ? kinds[0]! : `one of ${listedKinds(kinds)}`;
  return (field) => (kinds.includes(scalarKindOf(field)) ? undefined : mend);
}

function opMisfit({ type }: Field): string | undefined {
  const named = getNullableType(type);
  if (!isEnumType(named))
    return ['String', 'ID'].includes(scalarKindOf({ type }))
      ? undefined
      : `String, ID, or an enum of ${OPERATIONS.join(', ')}`;
  const missing = OPERATIONS.filter((op) => !named.getValue(op));
  return missing.length === 0 ? undefined : `String, or add ${missing.join(', ')} to the enum`;
}

/** A graph may give the values of an enum other ones inside. */
function opValue(op: string, { type }: Field): unknown {
  const named = getNullableType(type);
  return isEnumType(named) ? named.getValue(op)?.value : op;
}

function attach(field: Field, { valueOf }: Part): void {
  field.resolve = (source, _args, context) => {
    const change = changeOf(context) ?? SourceEvents.of(source)?.change;
    return change ? valueOf(change, field) : null;
  };
}
