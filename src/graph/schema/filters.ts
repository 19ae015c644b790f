import {
  Kind,
  getNamedType,
  getNullableType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isScalarType,
  isSpecifiedScalarType,
  print,
} from 'graphql';
import type { ConstValueNode, GraphQLField, GraphQLInputType, GraphQLSchema } from 'graphql';
import { didYouMean } from '../../base/did-you-mean.ts';
import { OPERATORS, isOrdering, operatorMeant } from '../filter/filter-rule.ts';
import type { Comparison, FilterRule, Operator } from '../filter/filter-rule.ts';
import { quotesHint } from './directive-arguments.ts';
import { matchedScalarOf } from './matched-scalar.ts';
import { isPath } from './payload-path.ts';
import { PayloadShape } from './payload-shape.ts';

type Field = GraphQLField<unknown, unknown>;

/** True for a `where` that names an argument; the others name a claim. */
export function isFilter(item: ConstValueNode): boolean {
  return item.kind === Kind.OBJECT && item.fields.some(({ name }) => name.value === 'arg');
}

/** Reads the `where`s of a @kafka that name an argument. */
export function readFilters(items: readonly ConstValueNode[], field: Field, problems: string[]): FilterRule[] {
  const rules: FilterRule[] = [];
  for (const item of items) {
    const rule = readFilter(item, field, problems);
    if (!rule) continue;
    const { arg, path, op } = rule;
    if (rules.some((other) => other.arg === arg && other.path === path && other.op === op)) {
      problems.push(`two wheres of "${arg}" on path "${path}" with ${op}; keep one`);
    }
    rules.push(rule);
  }
  return rules;
}

function readFilter(item: ConstValueNode, field: Field, problems: string[]): FilterRule | undefined {
  const members = new Map(item.kind === Kind.OBJECT ? item.fields.map((part) => [part.name.value, part.value]) : []);
  const arg = members.get('arg');
  const path = members.get('path');
  const op = operatorOf(members.get('op'));
  if (arg?.kind !== Kind.STRING || path?.kind !== Kind.STRING || !op || members.size !== 3) {
    problems.push(
      `each where of an argument must be { arg: "…", path: "…", op: EQ }, with one of ${OPERATORS.join(', ')}; ` +
        `got ${print(item)}${quotesHint(members, ['arg', 'path']) || operatorHint(members.get('op'))}`,
    );
    return undefined;
  }
  const definition = field.args.find(({ name }) => name === arg.value);
  if (!definition) {
    const names = field.args.map(({ name }) => name);
    problems.push(
      `where names the argument "${arg.value}", which the field does not have${didYouMean(arg.value, names)}`,
    );
  }
  const isGoodPath = isPath(path.value, `where of "${arg.value}": path`, problems);
  if (!definition || !isGoodPath) return undefined;
  const scalar = matchedScalarOf(definition.type);
  const mistake = mistakeOf(definition.type, op);
  if (mistake !== undefined)
    problems.push(`where: argument "${arg.value}" is of type ${String(definition.type)}; ${mistake}`);
  return { arg: arg.value, path: path.value, op, comparison: comparisonOf(definition.type), ...(scalar && { scalar }) };
}

function operatorOf(node: ConstValueNode | undefined): Operator | undefined {
  return node?.kind === Kind.ENUM ? OPERATORS.find((op) => op === node.value) : undefined;
}

/** `; did you mean "GTE"?` */
function operatorHint(node: ConstValueNode | undefined): string {
  if (node?.kind !== Kind.ENUM && node?.kind !== Kind.STRING) return '';
  const meant = operatorMeant(node.value);
  return meant ? `; write op: ${meant}` : didYouMean(node.value, OPERATORS);
}

/** Why an operator cannot take an argument of this type; undefined: it can. */
function mistakeOf(type: GraphQLInputType, op: Operator): string | undefined {
  const nullable = getNullableType(type);
  const isList = isListType(nullable) && isNonNullType(nullable.ofType);
  const value = isList ? getNullableType(nullable.ofType) : nullable;
  if (op === 'IN') {
    return isList && isLeafType(value) ? undefined : 'IN compares with a list of values, such as [ID!]';
  }
  if (!isLeafType(value) || isList) return `${op} compares with one value: use a scalar or an enum, or IN with a list`;
  const isText = !isEnumType(value) && value.name !== 'Boolean';
  if (isOrdering(op) && !isText) return `${op} compares numbers and texts; use EQ, NE or IN`;
  if (op === 'PREFIX' && ['Boolean', 'Int', 'Float'].includes(value.name))
    return 'PREFIX compares texts; use String or ID';
  return undefined;
}

function comparisonOf(type: GraphQLInputType): Comparison {
  const named = getNamedType(type);
  if (!isScalarType(named) || !isSpecifiedScalarType(named) || named.name === 'ID') return 'either';
  return named.name === 'Int' || named.name === 'Float' ? 'number' : 'text';
}

/** Reports a rule whose operator cannot compare what the field's type has at its path. */
export function checkComparison(
  schema: GraphQLSchema,
  field: Field,
  { arg, path, op, comparison }: FilterRule,
  payload: readonly string[],
  problems: string[],
): void {
  let shape = PayloadShape.of(schema, [{ payload, type: getNamedType(field.type) }]);
  for (const key of path.split('.')) shape = shape.at(key);
  const isNumber = shape.kinds.size === 1 && shape.kinds.has('number');
  if (!isNumber) return;
  if (isOrdering(op) && comparison === 'text') {
    problems.push(
      `where: ${op} compares the number at path "${path}" with the text of "${arg}"; make the argument Int or Float`,
    );
  } else if (op === 'PREFIX') {
    problems.push(`where: PREFIX compares texts, and path "${path}" has a number; use EQ, GTE or LT`);
  }
}
