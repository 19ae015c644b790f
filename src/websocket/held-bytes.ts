import type { Operation } from '../graph/documents/operation.ts';

/** What an operation keeps in memory for as long as it is live. */
export interface Holding {
  /** Beside its document. */
  readonly heldBytes: number;
  /** undefined: not parsed yet. */
  readonly operation: Pick<Operation, 'key' | 'documentBytes'> | undefined;
}

/** Whether all that the operations of a connection keep is at most `maxBytes`; a document that several have counts once. */
export function fits(holdings: readonly Holding[], maxBytes: number): boolean {
  let bytes = 0;
  for (const { heldBytes, operation } of holdings) bytes += heldBytes + (operation?.documentBytes ?? 0);
  if (bytes <= maxBytes) return true;
  const documents = new Set<string>();
  for (const { operation } of holdings) {
    if (!operation) continue;
    if (documents.has(operation.key)) bytes -= operation.documentBytes;
    documents.add(operation.key);
  }
  return bytes <= maxBytes;
}
