import type { Change } from './change.ts';
import type { Mutant } from './mutants.ts';

/** A mutant that no test can tell from the source, known by its text: line numbers move. */
export interface Equivalent {
  readonly file: string;
  /** The changed lines joined by spaces, as the results show them. */
  readonly before: string;
  readonly after: string;
  readonly reason: string;
}

export const EQUIVALENTS: readonly Equivalent[] = [];

export function equivalentOf(
  mutant: Mutant,
  change: Change,
  equivalents: readonly Equivalent[] = EQUIVALENTS,
): Equivalent | undefined {
  return equivalents.find(
    ({ file, before, after }) =>
      file === mutant.file && before === change.before.join(' ') && after === change.after.join(' '),
  );
}
