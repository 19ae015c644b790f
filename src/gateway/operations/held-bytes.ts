import type { DocumentNode } from 'graphql';
import type { Operation } from '../../graph/documents/operation.ts';

/** Memory that a live operation keeps. */
export interface Holding {
  /** Bytes beside its document. */
  readonly heldBytes: number;
  /** undefined: not parsed yet. */
  readonly operation: Pick<Operation, 'document' | 'documentBytes'> | undefined;
}

/** True if the operations of a connection keep at most `maxBytes`. Operations that share a cached document count it once. */
export function fits(holdings: Iterable<Holding>, maxBytes: number): boolean {
  let bytes = 0;
  for (const { heldBytes, operation } of holdings) bytes += heldBytes + (operation?.documentBytes ?? 0);
  if (bytes <= maxBytes) return true;
  const documents = new Set<DocumentNode>();
  for (const { operation } of holdings) {
    if (!operation) continue;
    if (documents.has(operation.document)) bytes -= operation.documentBytes;
    documents.add(operation.document);
  }
  return bytes <= maxBytes;
}
