import type { FieldNode, OperationDefinitionNode } from 'graphql';

type FieldNodes = readonly FieldNode[];

/** One execution's own copies of objects of `info` that other executions are given, too. */
export class ExecutionNodes {
  #operation: OperationDefinitionNode | undefined;
  #fieldNodes: Map<FieldNodes, FieldNodes> | undefined;

  /** A copy of the operation, which is the same at each call. */
  operation(shared: OperationDefinitionNode): OperationDefinitionNode {
    return (this.#operation ??= { ...shared });
  }

  /** One copy for each list. */
  fieldNodes(shared: FieldNodes): FieldNodes {
    const copies = (this.#fieldNodes ??= new Map<FieldNodes, FieldNodes>());
    let copy = copies.get(shared);
    if (!copy) copies.set(shared, (copy = shared.slice()));
    return copy;
  }
}
