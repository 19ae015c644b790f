import { Location } from 'graphql';
import type { DocumentNode, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import type { Payer } from './document-queue.ts';
import { OperationTally } from './operation-tally.ts';

/** A document that parses and is valid. */
export interface ValidDocument {
  /** SHA-256 of the query text, in hex. */
  readonly key: string;
  readonly document: DocumentNode;
  /** Estimated memory of `document`. */
  readonly bytes: number;
  /** The schema that it was validated against; undefined: it is not executed. */
  readonly schema?: GraphQLSchema | undefined;
}

/**
 * One operation of a valid document. Immutable but for its tally, and shared by all subscriptions and requests that run it. It lives as long as the
 * document is cached or the operation is in use. An executor keeps what it learns of an operation in an `OperationPlan`.
 */
export class Operation {
  /** Of the document. */
  readonly key: string;
  readonly name: string | undefined;
  readonly type: OperationDefinitionNode['operation'];
  readonly definition: OperationDefinitionNode;
  readonly document: DocumentNode;
  /** Estimated memory of the document. */
  readonly documentBytes: number;
  /** The schema that the document was validated against: it names the graph that runs the operation. */
  readonly schema: GraphQLSchema | undefined;
  /** The client that sent the document: it is charged for compiling the operation. */
  readonly payer: Payer | undefined;
  readonly tally: OperationTally;

  constructor({ key, document, bytes, schema }: ValidDocument, definition: OperationDefinitionNode, payer?: Payer) {
    this.key = key;
    this.document = document;
    this.documentBytes = bytes;
    this.schema = schema;
    this.definition = definition;
    this.name = definition.name?.value;
    this.type = definition.operation;
    this.payer = payer;
    this.tally = new OperationTally(key, this.name ?? '');
  }

  /** The same operation with AST nodes that no other operation has. Their locations, if any, are shared. */
  copy(): Operation {
    const document = copyOf(this.document);
    const definition = document.definitions[this.document.definitions.indexOf(this.definition)];
    return new Operation(
      { key: this.key, document, bytes: this.documentBytes, schema: this.schema },
      definition as OperationDefinitionNode,
      this.payer,
    );
  }
}

/** Copies AST nodes. As deep as the document is nested, which the parser's recursion has survived. */
function copyOf<T>(value: T): T {
  if (typeof value !== 'object' || value === null || value instanceof Location) return value;
  if (Array.isArray(value)) return value.map(copyOf) as T;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copyOf<unknown>(member)])) as T;
}
