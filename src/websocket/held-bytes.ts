import type { Operation } from '../graph/documents/operation.ts';

/** Memory that a live operation keeps. */
export interface Holding {
  /** Bytes beside its document. */
  readonly heldBytes: number;
  /** undefined: not parsed yet. */
  readonly operation: Pick<Operation, 'key' | 'documentBytes'> | undefined;
}

/** True if the operations of a connection keep at most `maxBytes`. A document that several operations use counts once. */
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
