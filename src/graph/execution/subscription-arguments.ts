import { GraphQLError, Kind, getArgumentValues } from 'graphql';
import type {
  DocumentNode,
  FieldNode,
  GraphQLField,
  GraphQLFormattedError,
  GraphQLSchema,
  SelectionSetNode,
} from 'graphql';
import { clientError } from '../../base/errors.ts';
import type { Operation } from '../documents/operation.ts';
import { coerceVariables } from '../graphql-version.ts';
import { copyDefaults } from './isolation.ts';

export interface SubscriptionArguments {
  readonly field: GraphQLField<unknown, unknown>;
  /** Coerced, as the field's resolver would get them. */
  readonly args: Record<string, unknown>;
  /** All variables of the operation, coerced. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** The same as `info` has them. */
  readonly infoVariables: Record<string, unknown>;
}

/** Coercion errors that one request reports at most. */
export const MAX_COERCION_ERRORS = 10;

/** The root field of a subscription and its arguments, or coercion errors with code BAD_USER_INPUT. */
export function subscriptionArguments(
  schema: GraphQLSchema,
  { definition, document }: Operation,
  variables: Readonly<Record<string, unknown>>,
): SubscriptionArguments | { readonly errors: readonly GraphQLFormattedError[] } {
  const definitions = definition.variableDefinitions ?? [];
  const variableValues = coerceVariables(schema, definitions, variables, { maxErrors: MAX_COERCION_ERRORS });
  if ('errors' in variableValues) return { errors: variableValues.errors.map((error) => badUserInput(error).toJSON()) };
  const { coerced, forArguments } = variableValues;
  const node = rootFieldOf(document, definition.selectionSet);
  const field = node && schema.getSubscriptionType()?.getFields()[node.name.value];
  if (!field) throw new TypeError('not a validated subscription');
  try {
    const args = getArgumentValues(field, node, forArguments);
    copyDefaults(field, args);
    return { field, args, variables: coerced, infoVariables: forArguments };
  } catch (error) {
    const path = [(node.alias ?? node.name).value];
    if (error instanceof GraphQLError) return { errors: [{ ...badUserInput(error).toJSON(), path }] };
    throw error;
  }
}

export function badUserInput({ message, extensions }: GraphQLError): GraphQLError {
  return clientError('BAD_USER_INPUT', message, extensions);
}

function rootFieldOf(document: DocumentNode, set: SelectionSetNode): FieldNode | undefined {
  for (const selection of set.selections) {
    if (selection.kind === Kind.FIELD) return selection;
    const below =
      selection.kind === Kind.INLINE_FRAGMENT
        ? selection
        : document.definitions.find(
            (node) => node.kind === Kind.FRAGMENT_DEFINITION && node.name.value === selection.name.value,
          );
    const field = below && 'selectionSet' in below && below.selectionSet && rootFieldOf(document, below.selectionSet);
    if (field) return field;
  }
  return undefined;
}
