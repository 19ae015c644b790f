import {
  getNamedType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isRequiredArgument,
  isRequiredInputField,
} from 'graphql';
import type { GraphQLArgument, GraphQLField, GraphQLInputType, GraphQLNamedOutputType } from 'graphql';
import type { Graph } from '../graph-parts.ts';

const LEVELS = 2;

/** Fields of one type; a comment counts the others. */
const MAX_FIELDS = 5;

/** An example subscription: the samples' operation, or one generated from the schema's first Subscription field. */
export function exampleOperation(graph: Pick<Graph, 'schema' | 'samples'>): string {
  if (graph.samples?.operation !== undefined) return graph.samples.operation;
  const field = Object.values(graph.schema.getSubscriptionType()?.getFields() ?? {})[0];
  if (!field) throw new TypeError('the schema has no Subscription field');
  return exampleOf(field);
}

/** A subscription to one field. */
function exampleOf(field: GraphQLField<unknown, unknown>): string {
  return `subscription {\n${printField(field, LEVELS, '  ')}\n}\n`;
}

/** The same on one line, without comments. */
export function shortExampleOf(field: GraphQLField<unknown, unknown>): string {
  return exampleOf(field).replaceAll(/#.*/g, '').replaceAll(/\s+/g, ' ').trim();
}

function printField(field: GraphQLField<unknown, unknown>, levels: number, indent: string): string {
  return `${indent}${field.name}${printArguments(field.args)}${printSelection(getNamedType(field.type), levels, indent)}`;
}

function printArguments(args: readonly GraphQLArgument[]): string {
  const required = args.filter(isRequiredArgument).map(({ name, type }) => `${name}: ${plausible(type)}`);
  return required.length > 0 ? `(${required.join(', ')})` : '';
}

function printSelection(type: GraphQLNamedOutputType, levels: number, indent: string): string {
  if (isLeafType(type)) return '';
  const deeper = `${indent}  `;
  const fields =
    'getFields' in type
      ? Object.values(type.getFields())
          .filter((field) => isLeafType(getNamedType(field.type)) || levels > 1)
          .map((field) => printField(field, levels - 1, deeper))
      : [];
  const others = fields.splice(MAX_FIELDS).length;
  if (others > 0) fields.push(`${deeper}# and ${others} more`);
  const lines = isAbstractType(type) || fields.length === 0 ? [`${deeper}__typename`, ...fields] : fields;
  return ` {\n${lines.join('\n')}\n${indent}}`;
}

function plausible(type: GraphQLInputType): string {
  if (isNonNullType(type)) return plausible(type.ofType);
  if (isListType(type)) return `[${plausible(type.ofType)}]`;
  if (isEnumType(type)) return type.getValues()[0]?.name ?? 'null';
  if (isInputObjectType(type)) {
    const required = Object.values(type.getFields()).filter(isRequiredInputField);
    return `{ ${required.map((field) => `${field.name}: ${plausible(field.type)}`).join(', ')} }`;
  }
  const values: Readonly<Record<string, string>> = { Int: '1', Float: '1.5', Boolean: 'true' };
  return values[type.name] ?? '"1"';
}
