import { applyMutant } from './mutants.ts';
import type { Mutant } from './mutants.ts';

/** A mutant as whole lines without indentation, for reports. */
export interface Change {
  readonly line: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

export function changeOf(source: string, mutant: Mutant): Change {
  const mutated = applyMutant(source, mutant);
  const from = source.lastIndexOf('\n', mutant.start - 1) + 1;
  const end = endOfLine(source, mutant.end);
  return {
    line: source.slice(0, from).split('\n').length,
    before: linesOf(source.slice(from, end)),
    after: linesOf(mutated.slice(from, end + mutated.length - source.length)),
  };
}

function endOfLine(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end < 0 ? text.length : end;
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && line !== ';');
}
