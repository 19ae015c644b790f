import { GraphQLError, getNamedType } from 'graphql';
import type { ASTVisitor, ValidationContext } from 'graphql';

/** Refuses `_service`, from which routers read the whole schema of a subgraph. */
export function noSubgraphSdlRule(context: ValidationContext): ASTVisitor {
  return {
    Field(node) {
      const type = context.getType();
      if (!type || getNamedType(type).name !== '_Service') return;
      const message = `The schema cannot be read here, so "${node.name.value}" is disabled like introspection.`;
      context.reportError(new GraphQLError(message, { nodes: node }));
    },
  };
}
