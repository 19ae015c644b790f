import { isNonNullType } from 'graphql';
import type { GraphQLObjectType, GraphQLSchema } from 'graphql';
import { directiveOf } from './field-directive.ts';
import { lineOf } from './problem.ts';

/**
 * Finds the Query and Mutation fields that never have a value: nothing gives them one, because a root has no parent. A mutation that answers
 * null, without an error, would look as if it had done its work. A query is a warning: many schemas have one field only because GraphQL demands
 * a Query type.
 *
 * @param schema with the resolvers of the graph and of directives attached
 * @returns one line for each field
 */
export function nullRoots(schema: GraphQLSchema): { readonly problems: string[]; readonly warnings: string[] } {
  return {
    problems: linesOf(schema.getMutationType(), { name: 'kafkaPublish', text: '@kafkaPublish(topic: "…")' }),
    warnings: linesOf(schema.getQueryType(), { name: 'state', text: '@state(of: "…")' }),
  };
}

/** What gives a field its value, beside a resolver. */
interface ValueDirective {
  readonly name: string;
  /** As somebody writes it. */
  readonly text: string;
}

function linesOf(root: GraphQLObjectType | null | undefined, directive: ValueDirective): string[] {
  if (!root) return [];
  return Object.values(root.getFields()).flatMap((field) => {
    const { name, astNode, resolve, type } = field;
    // What crier and federation add has no location, and gets its value later. A directive with a mistake is reported at its own line.
    if (resolve || !astNode?.loc || directiveOf(field, directive.name)) return [];
    return (
      `${lineOf(astNode)}${root.name}.${name}: has no resolver, so it would always be ${isNonNullType(type) ? 'an error' : 'null'}; ` +
      `write export const ${root.name} = { ${name}: (source, args, context) => … } in resolvers.ts, add ${directive.text}, or remove it`
    );
  });
}
