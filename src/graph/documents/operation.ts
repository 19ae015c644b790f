import { Kind } from 'graphql';
import type { DocumentNode, GraphQLFormattedError, OperationDefinitionNode } from 'graphql';
import type { CompiledQuery } from 'graphql-jit';
import type { CachedDocument, InvalidDocument } from './document-cache.ts';
import type { Payer } from './document-queue.ts';
import type { Template } from '../projection/template.ts';

/** A `Template` with an operation that can be executed for its slots. */
export interface SplitOperation {
  readonly render: Template['render'];
  /** undefined: there are no slots. */
  readonly slotOperation: Operation | undefined;
}

/** One operation of a cached document. Shared by all who run it; lives as long as the document is cached or it is used. */
export class Operation {
  /** Of the document. */
  readonly key: string;
  readonly name: string | undefined;
  readonly type: OperationDefinitionNode['operation'];
  readonly definition: OperationDefinitionNode;
  readonly document: DocumentNode;
  /** Estimated memory of the document. */
  readonly documentBytes: number;

  /** The client that brought the document: it pays for what is made of it. */
  payer: Payer | undefined;
  /** Kept by the executor: executions by graphql-js so far. */
  uses = 0;
  /** Kept by the executor: the compiled query, null where there must be none, undefined before either is known. */
  compiled: CompiledQuery['query'] | null | undefined;
  /** Kept by the executor: whether it waits to be compiled, or was. */
  isCompileDue = false;
  /** Kept by the executor: whether it waits to be split, or was. */
  isSplitDue = false;
  /** Kept by the executor: raw variables that graphql-js has coerced without an error. */
  readonly accepted = new WeakSet<object>();
  /** Kept by the executor: the operation split, null where it has no template, undefined before it is known. */
  split: SplitOperation | null | undefined;

  constructor(cached: Pick<CachedDocument, 'key' | 'document' | 'bytes'>, definition: OperationDefinitionNode) {
    this.key = cached.key;
    this.document = cached.document;
    this.documentBytes = cached.bytes;
    this.definition = definition;
    this.name = definition.name?.value;
    this.type = definition.operation;
  }

  /** The same operation with AST nodes of its own, never compiled. */
  copy(): Operation {
    const document = structuredClone(this.document);
    const definition = document.definitions[this.document.definitions.indexOf(this.definition)];
    const copy = new Operation(
      { key: this.key, document, bytes: this.documentBytes },
      definition as OperationDefinitionNode,
    );
    copy.compiled = null;
    return copy;
  }
}

/** The operation that a request means, or the errors to answer it with. */
export function operationOf(cached: CachedDocument, operationName?: string | null): Operation | InvalidDocument {
  const wanted = operationName ?? '';
  const known = cached.operations.get(wanted);
  if (known) return known;
  const definitions = cached.document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  const [definition, second] = wanted === '' ? definitions : definitions.filter(({ name }) => name?.value === wanted);
  if (!definition) {
    return refusal(wanted === '' ? 'The document has no operation.' : `The document has no operation "${wanted}".`);
  }
  if (second) return refusal('The document has several operations: operationName must say which.');
  // Asked for with its name or without, it is one operation and compiled once.
  const name = definition.name?.value ?? '';
  const operation = cached.operations.get(name) ?? new Operation(cached, definition);
  cached.operations.set(name, operation).set(wanted, operation);
  return operation;
}

function refusal(message: string): { errors: GraphQLFormattedError[] } {
  return { errors: [{ message, extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } }] };
}
