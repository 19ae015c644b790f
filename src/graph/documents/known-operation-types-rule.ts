import { GraphQLError } from 'graphql';
import type { ASTVisitor, ValidationContext } from 'graphql';

/**
 * Refuses an operation whose root type the schema does not have. graphql-js 16 validates it and fails at its execution; 17 has such a rule.
 * https://spec.graphql.org/draft/#sec-Operation-Type-Existence
 */
export function knownOperationTypesRule(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition(node) {
      if (context.getSchema().getRootType(node.operation)) return;
      const message = `The schema has no ${node.operation} type, so it cannot execute a ${node.operation}.`;
      context.reportError(new GraphQLError(message, { nodes: node }));
    },
  };
}
