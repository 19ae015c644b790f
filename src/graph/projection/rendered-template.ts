import type { DocumentNode } from 'graphql';
import type { FactTest } from '../context/fact-reads.ts';

/** The text of one event's result, with a gap at each slot. */
export interface RenderedTemplate {
  /** JSON text in UTF-8 without its closing brace, in pieces; one more than there are slots. */
  readonly texts: readonly Buffer[];
  /** For each slot, the response keys that lead to it. */
  readonly slots: readonly (readonly string[])[];
}

/**
 * A subscription's operation, split in two. Fields without a resolver are read from the payload, which is the same for every
 * connection: their text is copied from the payload once for all, without an execution. Each field with a resolver is a slot in
 * that text: `slotDocument` selects the slots only, and is all that must be executed for a connection.
 */
export interface Template {
  /**
   * Renders a payload's JSON text. undefined: the payload does not fit the schema, or its text cannot be copied; the whole operation
   * must be executed.
   */
  readonly render: (payload: Uint8Array) => RenderedTemplate | undefined;
  /** undefined: there are no slots. */
  readonly slotDocument: DocumentNode | undefined;
  /** Of the fields that are read from the payload: the text is only for connections that meet all of them. */
  readonly rules: readonly FactTest[];
}
