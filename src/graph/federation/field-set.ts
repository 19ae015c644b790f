import {
  Kind,
  getNamedType,
  getNullableType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  parse,
} from 'graphql';
import type { GraphQLInputType, GraphQLNamedType, GraphQLOutputType, GraphQLSchema, SelectionSetNode } from 'graphql';
import { didYouMean } from '../../base/did-you-mean.ts';
import { clientError } from '../../base/errors.ts';
import { coerceInput } from '../graphql-version.ts';

/** The fields that the `fields` of @key, @requires or @provides selects, by name. */
export type FieldSet = ReadonlyMap<string, SelectedField>;

interface SelectedField {
  readonly type: GraphQLOutputType;
  /** undefined: it has no fields. */
  readonly fields: FieldSet | undefined;
}

/** Reads a field set of `type`. undefined: it has a mistake, which is reported. */
export function readFieldSet(
  schema: GraphQLSchema,
  type: GraphQLNamedType,
  text: string,
  report: (problem: string) => void,
): FieldSet | undefined {
  const selections = selectionsOf(text);
  if (!selections) {
    report(
      `fields ${JSON.stringify(text)} is no field set; write names with spaces between, such as "id owner { id }"`,
    );
    return undefined;
  }
  let isCorrect = true;
  const set = readSelections(schema, type, selections, (problem) => {
    isCorrect = false;
    report(`fields ${JSON.stringify(text)}: ${problem}`);
  });
  return isCorrect ? set : undefined;
}

/** All fields of several sets. */
export function mergedFieldSet(sets: readonly FieldSet[]): FieldSet {
  const merged = new Map<string, SelectedField>();
  for (const [name, { type, fields }] of sets.flatMap((set) => [...set])) {
    const others = merged.get(name)?.fields;
    merged.set(name, { type, fields: fields && others ? mergedFieldSet([others, fields]) : fields });
  }
  return merged;
}

/** True if the value has all fields of the set. */
export function hasFieldSet(set: FieldSet, value: unknown): boolean {
  if (Array.isArray(value)) return value.every((item) => hasFieldSet(set, item));
  return [...set].every(([name, { fields }]) => {
    const member = memberOf(value, name);
    return member !== undefined && (!fields || member === null || hasFieldSet(fields, member));
  });
}

/**
 * A copy of what the set selects in a value that a client sent. Leaves are coerced to their types as arguments are: an ID is a text,
 * never an object that a database would take for a query.
 * @throws GraphQLError with code BAD_USER_INPUT
 */
export function coercedFields(set: FieldSet, value: object, coordinate: string): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [name, { type, fields }] of set) {
    const member = memberOf(value, name);
    if (member !== undefined) copy[name] = coerced(type, fields, member, `${coordinate}.${name}`);
  }
  return copy;
}

function coerced(type: GraphQLOutputType, fields: FieldSet | undefined, value: unknown, coordinate: string): unknown {
  if (!fields) {
    return coerceInput(value, type as GraphQLInputType, ({ message }) => {
      throw clientError('BAD_USER_INPUT', `The representation has no valid value at "${coordinate}": ${message}`);
    });
  }
  const nullable = getNullableType(type);
  if (value === null && nullable === type) return null;
  if (isListType(nullable) && Array.isArray(value)) {
    return value.map((item) => coerced(nullable.ofType, fields, item, coordinate));
  }
  if (isListType(nullable) || typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw clientError('BAD_USER_INPUT', `The representation has no valid value at "${coordinate}".`);
  }
  const typeName = memberOf(value, '__typename');
  return { ...(typeof typeName === 'string' && { __typename: typeName }), ...coercedFields(fields, value, coordinate) };
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

function selectionsOf(text: string): SelectionSetNode | undefined {
  try {
    const [operation, second] = parse(`{${text}}`, { noLocation: true }).definitions;
    return operation?.kind === Kind.OPERATION_DEFINITION && !second ? operation.selectionSet : undefined;
  } catch {
    return undefined;
  }
}

function readSelections(
  schema: GraphQLSchema,
  type: GraphQLNamedType,
  { selections }: SelectionSetNode,
  report: (problem: string) => void,
): FieldSet {
  const sets = selections.map((selection): FieldSet => {
    if (selection.kind !== Kind.FIELD) {
      const name = selection.kind === Kind.INLINE_FRAGMENT ? selection.typeCondition?.name.value : undefined;
      const condition = name === undefined ? type : schema.getType(name);
      if (selection.kind === Kind.INLINE_FRAGMENT && condition) {
        return readSelections(schema, condition, selection.selectionSet, report);
      }
      report(name === undefined ? 'a field set has no named fragments' : `there is no type "${name}"`);
      return new Map();
    }
    const name = selection.name.value;
    const known = isObjectType(type) || isInterfaceType(type) ? type.getFields() : {};
    const field = Object.hasOwn(known, name) ? known[name] : undefined;
    if (!field) {
      if (name !== '__typename') report(`${type.name} has no field "${name}"${didYouMean(name, Object.keys(known))}`);
      return new Map();
    }
    const named = getNamedType(field.type);
    if (isCompositeType(named) !== (selection.selectionSet !== undefined)) {
      const coordinate = `${type.name}.${name}`;
      report(
        isCompositeType(named)
          ? `${coordinate} is of type ${named.name}; select fields of it, such as "${name} { … }"`
          : `${coordinate} is of type ${named.name}, which has no fields; write "${name}"`,
      );
      return new Map();
    }
    const { selectionSet } = selection;
    const fields = selectionSet && readSelections(schema, named, selectionSet, report);
    return new Map([[name, { type: field.type, fields }]]);
  });
  return mergedFieldSet(sets);
}
