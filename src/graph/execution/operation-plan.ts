import type { CompiledQuery } from 'graphql-jit';
import type { FactReads } from '../context/fact-reads.ts';
import type { Operation } from '../documents/operation.ts';
import type { Template } from '../projection/rendered-template.ts';

/** A template, and the plan of the operation that selects its slots. */
export interface SplitOperation {
  readonly template: Template;
  /** undefined: there are no slots. */
  readonly slots: OperationPlan | undefined;
  /** The reads of a result without slots; undefined: none. */
  readonly accessReads: FactReads | undefined;
}

/** What an executor knows of an operation. Only the executor writes to it. */
export class OperationPlan {
  readonly operation: Operation;
  /** Executions by graphql-js so far. */
  uses: number;
  /** The compiled query; null where the operation must not be compiled, undefined before either is known. */
  compiled: CompiledQuery['query'] | null | undefined;
  /** True if the operation waits to be compiled, or was compiled. */
  isCompileQueued = false;
  /** null where the operation has no template, undefined before that is known. */
  split: SplitOperation | null | undefined;
  /** True if the operation waits to be split, or was split. */
  isSplitQueued = false;
  /** Raw variables that graphql-js has coerced without an error. */
  readonly accepted = new WeakSet<object>();

  constructor(operation: Operation, uses = 0) {
    this.operation = operation;
    this.uses = uses;
  }
}
