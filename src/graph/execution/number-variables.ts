import { getNamedType, getNullableType, isInputObjectType, isListType, typeFromAST } from 'graphql';
import type { GraphQLInputType } from 'graphql';
import { NUMBER, exactNumber, numberText } from '../../base/json/exact-numbers.ts';
import type { Operation } from '../documents/operation.ts';

/** Levels of lists and objects: more than a request may have (`MAX_VARIABLES_DEPTH`), and safe for the stack. */
const MAX_LEVELS = 1000;

/**
 * The same variables, with numbers for Floats: `parseExactly` returns a number whose digits a double loses as text, which other types, such
 * as ID, compare in full, and which is no Float. A number for an ID becomes the text by which it is compared, `1e21` its digits. Returns
 * `variables` itself where nothing changes.
 */
export function withNumbers(
  { schema, definition: { variableDefinitions } }: Operation,
  variables: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  let changed = variables;
  for (const { type, variable } of variableDefinitions ?? []) {
    const name = variable.name.value;
    const value = variables[name];
    const converted = convert(typeFromAST(schema!, type) as GraphQLInputType | undefined, value, MAX_LEVELS);
    if (converted !== value) changed = { ...changed, [name]: converted };
  }
  return changed;
}

function convert(type: GraphQLInputType | undefined, value: unknown, levels: number): unknown {
  const named = getNamedType(type);
  if (typeof value === 'number') return named?.name === 'ID' && Number.isInteger(value) ? numberText(value) : value;
  if (typeof value === 'string') {
    const isFloat = named?.name === 'Float' && NUMBER.test(value) && exactNumber(value) === value;
    return isFloat ? Number(value) : value;
  }
  if (typeof value !== 'object' || value === null || levels === 0) return value;
  if (Array.isArray(value)) {
    const nullable = getNullableType(type);
    const ofItem = isListType(nullable) ? (nullable.ofType as GraphQLInputType) : type;
    const items = value.map((item) => convert(ofItem, item, levels - 1));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isInputObjectType(named)) return value;
  const fields = named.getFields();
  let changed = value as Readonly<Record<string, unknown>>;
  for (const [name, member] of Object.entries(value)) {
    const converted = convert(fields[name]?.type, member, levels - 1);
    if (converted !== member) changed = { ...changed, [name]: converted };
  }
  return changed;
}
