import type { GraphQLResolveInfo, GraphQLSchema } from 'graphql';
import { signalOf } from '../context/context.ts';
import { IS_17, completeInfo } from '../graphql-version.ts';
import { fragmentsOf, rootFields } from './root-fields.ts';
import type { SubscriptionArguments } from './subscription-arguments.ts';
import type { Operation } from '../documents/operation.ts';

/** The `info` of a `subscribe`, as in graphql-js; no other call gets its operation and field nodes. */
export function subscribeInfo(
  schema: GraphQLSchema,
  operation: Operation,
  { field, infoVariables }: SubscriptionArguments,
  context: unknown,
): GraphQLResolveInfo {
  const parentType = schema.getSubscriptionType()!;
  const fragments = fragmentsOf(operation);
  const info: GraphQLResolveInfo = {
    fieldName: field.name,
    fieldNodes: rootFields(operation.definition.selectionSet, fragments),
    returnType: field.type,
    parentType,
    path: { prev: undefined, key: responseKeyOf(operation), typename: parentType.name },
    schema,
    fragments,
    rootValue: undefined,
    operation: { ...operation.definition },
    variableValues: infoVariables,
  };
  if (IS_17) completeInfo(info, false, () => signalOf(context));
  return info;
}

/** The response key of a valid subscription's one root field. */
export function responseKeyOf(operation: Operation): string {
  const { alias, name } = rootFields(operation.definition.selectionSet, fragmentsOf(operation))[0]!;
  return (alias ?? name).value;
}
