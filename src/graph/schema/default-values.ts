import { isInputObjectType, isInterfaceType, isObjectType, print } from 'graphql';
import type { GraphQLArgument, GraphQLInputField, GraphQLSchema } from 'graphql';
import { lineOf } from './problem.ts';

/** A line for each default that its type does not have: graphql-js, which checks none, would leave it out. */
export function defaultProblems(schema: GraphQLSchema): string[] {
  const types = Object.values(schema.getTypeMap());
  return types.flatMap((type) => {
    if (isInputObjectType(type))
      return Object.values(type.getFields()).flatMap((field) => defaultProblem(field, `${type.name}.${field.name}`));
    if (!isObjectType(type) && !isInterfaceType(type)) return [];
    return Object.values(type.getFields()).flatMap(({ name, args }) =>
      args.flatMap((argument) => defaultProblem(argument, `${type.name}.${name}(${argument.name}:)`)),
    );
  });
}

function defaultProblem({ astNode, defaultValue, type }: GraphQLArgument | GraphQLInputField, coordinate: string) {
  const node = astNode?.defaultValue;
  if (!node || defaultValue !== undefined) return [];
  return [`${lineOf(node)}${coordinate}: the default ${print(node)} is no ${String(type)}; correct or remove it`];
}
