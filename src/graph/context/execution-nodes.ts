import type { FieldNode, OperationDefinitionNode } from 'graphql';

type FieldNodes = readonly FieldNode[];

/** Copies, for one execution, of the objects in `info` that all executions of an operation would share. */
export class ExecutionNodes {
  #shared: OperationDefinitionNode | undefined;
  #operation: OperationDefinitionNode | undefined;
  #fieldNodes: Map<FieldNodes, FieldNodes> | undefined;

  /** A copy of the operation; the same one at each call. A repeat may have another operation: the whole one instead of its slots. */
  operation(shared: OperationDefinitionNode): OperationDefinitionNode {
    if (this.#operation && this.#shared === shared) return this.#operation;
    this.#shared = shared;
    return (this.#operation = { ...shared });
  }

  /** A copy of the list; the same one at each call with that list. */
  fieldNodes(shared: FieldNodes): FieldNodes {
    const copies = (this.#fieldNodes ??= new Map<FieldNodes, FieldNodes>());
    let copy = copies.get(shared);
    if (!copy) copies.set(shared, (copy = shared.slice()));
    return copy;
  }
}
