import type { OperationTally } from '../../graph/documents/operation-tally.ts';

const DOCUMENT_DIGITS = 12;
/** A client chooses the name. */
const MAX_NAME_LENGTH = 100;

/** An operation, as the lists name it. */
export interface OperationName {
  /** The first digits of the SHA-256 of the document's text. */
  readonly document: string;
  /** '' for an operation without a name. */
  readonly operation: string;
}

export function nameOf({ document, name }: OperationTally): OperationName {
  return { document: document.slice(0, DOCUMENT_DIGITS), operation: name.slice(0, MAX_NAME_LENGTH) };
}
