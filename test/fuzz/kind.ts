import type fc from 'fast-check';
import type { Scope } from '../support/socket.ts';

/** One kind of random input, and what is true for all of it. */
export interface FuzzKind {
  /** Cases of the short form, which runs with the other tests. */
  readonly shortRuns: number;
  /** `scope`: ends what the property has started. */
  readonly property: (scope: Scope) => Promise<fc.IRawProperty<unknown>>;
}
