import { Kind } from 'graphql';
import type { GraphQLFormattedError } from 'graphql';
import type { Payer } from './document-queue.ts';
import { Operation } from './operation.ts';
import type { ValidDocument } from './operation.ts';

/** Operations that a message names. */
const MAX_NAMES = 5;

/** A valid document with its operations, which are evicted with it. */
export interface CachedDocument extends ValidDocument {
  /** Filled by `operationOf`, by operation name; '' for none. At most one for each operation of the document. */
  readonly operations: Map<string, Operation>;
}

/** The answer to a document that cannot be executed: each error has a code, and locations where there are any. */
export interface InvalidDocument {
  readonly errors: readonly GraphQLFormattedError[];
}

/**
 * The operation that a request names, or the errors to answer it with.
 * @param payer of an operation that is new
 */
export function operationOf(
  cached: CachedDocument,
  operationName?: string | null,
  payer?: Payer,
): Operation | InvalidDocument {
  const wanted = operationName ?? '';
  const known = cached.operations.get(wanted);
  if (known) return known;
  const definitions = cached.document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  const [definition, second] = wanted === '' ? definitions : definitions.filter(({ name }) => name?.value === wanted);
  if (!definition) {
    const names = definitions.slice(0, MAX_NAMES).map(({ name }) => (name ? `"${name.value}"` : 'one without a name'));
    const others = names.length === 0 ? '' : `; it has ${names.join(', ')}`;
    return refusal(
      wanted === '' ? 'The document has no operation.' : `The document has no operation "${wanted}"${others}.`,
    );
  }
  if (second) return refusal('The document has several operations: operationName must say which.');
  // Requested with its name or without, it is one operation and compiled once.
  const name = definition.name?.value ?? '';
  const operation = cached.operations.get(name) ?? new Operation(cached, definition, payer);
  cached.operations.set(name, operation).set(wanted, operation);
  return operation;
}

function refusal(message: string): InvalidDocument {
  return { errors: [{ message, extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } }] };
}
