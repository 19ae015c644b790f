import type fc from 'fast-check';
import type { Scope } from '../support/socket.ts';

/** One kind of random input and the property that must hold for it. */
export interface FuzzKind {
  /** Number of cases in the short form, which runs with the other tests. */
  readonly shortRuns: number;
  /** Creates the property. Its servers are closed with `scope`. */
  readonly property: (scope: Scope) => Promise<fc.IRawProperty<unknown>>;
}
