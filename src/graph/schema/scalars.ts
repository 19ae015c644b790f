import {
  Kind,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  print,
  visit,
} from 'graphql';
import type { GraphQLArgument, GraphQLInputField, GraphQLInputType, GraphQLSchema, ValueNode } from 'graphql';
import { exactNumber } from '../../base/json/exact-numbers.ts';
import { setDefaultValue, setScalarFunctions, valueOfLiteral } from '../graphql-version.ts';
import { defineInteger, integerDigitsOf } from './integer-scalars.ts';

/** As in graphql-js's default, of whatever version: it rounds a number before `parseValue` sees it. */
const ROUNDS = /\bvalueFromASTUntyped\b/;

/**
 * Makes scalars read the numbers of documents with all their digits: those that the graph defines by `parseLiteral` of their own do it
 * themselves. BigInt and Long are crier's where the graph defines none.
 *
 * @param schema with the scalars of the graph's resolvers
 * @param own names of these
 * @returns one line for each default value that is none of its type
 */
export function attachScalars(schema: GraphQLSchema, own: ReadonlySet<string>): string[] {
  const types = Object.values(schema.getTypeMap());
  for (const type of types) {
    if (!isScalarType(type) || isSpecifiedScalarType(type)) continue;
    if (!own.has(type.name)) defineInteger(type);
    const { parseLiteral } = type;
    if (ROUNDS.test(String(parseLiteral)))
      setScalarFunctions(type, {
        parseLiteral: (node, variables) => parseLiteral.call(type, withExactNumbers(node), variables),
      });
  }
  // The schema has been built with graphql-js's defaults of scalars.
  const problems: string[] = [];
  const setDefault = (input: GraphQLArgument | GraphQLInputField, coordinate: string) => {
    const node = input.astNode?.defaultValue;
    if (!node || !(readsInteger(input.type, []) || withExactNumbers(node) !== node)) return;
    setDefaultValue(input, valueOfLiteral(node, input.type));
    if (input.defaultValue !== undefined) return;
    problems.push(`${coordinate}: the default value ${print(node)} does not fit the type ${String(input.type)}`);
  };
  for (const type of types.filter(isInputObjectType)) {
    for (const field of Object.values(type.getFields())) setDefault(field, `${type.name}.${field.name}`);
  }
  for (const type of types.filter((one) => isObjectType(one) || isInterfaceType(one))) {
    for (const field of Object.values(type.getFields())) {
      for (const arg of field.args) setDefault(arg, `${type.name}.${field.name}(${arg.name}:)`);
    }
  }
  return problems;
}

/** Numbers whose digits a double loses are texts, as they are in variables. Returns `node` itself where nothing changes. */
function withExactNumbers(node: ValueNode): ValueNode {
  const exact = ({ value }: { readonly value: string }) => {
    const number = exactNumber(value);
    return typeof number === 'string' ? { kind: Kind.STRING, value: number } : undefined;
  };
  return visit(node, { [Kind.INT]: exact, [Kind.FLOAT]: exact });
}

/** True if a value of the type may have one of crier's integers in it. */
function readsInteger(type: GraphQLInputType, above: readonly GraphQLInputType[]): boolean {
  const named = getNamedType(type);
  if (isScalarType(named)) return integerDigitsOf(named) !== undefined;
  if (!isInputObjectType(named) || above.includes(named)) return false;
  return Object.values(named.getFields()).some((field) => readsInteger(field.type, [...above, named]));
}
