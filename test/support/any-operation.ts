import { parse } from 'graphql';
import type { OperationDefinitionNode } from 'graphql';
import { Operation } from '../../src/graph/documents/operation.ts';

/** An operation that nothing executes. */
export function anyOperation(query = 'subscription { tick }', key = '00'.repeat(32)): Operation {
  const document = parse(query, { noLocation: true });
  return new Operation({ key, document, bytes: 0 }, document.definitions[0] as OperationDefinitionNode);
}
