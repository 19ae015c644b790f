import { PathReader } from '../../base/json/path-reader.ts';
import { JsonScanner } from '../../base/json/scanner.ts';
import type { FilterRule } from './filter-rule.ts';

/** The readers of the paths of a graph's filters: one for the rules of each field. */
export class FilterReaders {
  #scanner: JsonScanner | undefined;
  readonly #readers = new Map<readonly FilterRule[], PathReader>();

  /** @param rules those of a field, always the same array */
  of(rules: readonly FilterRule[]): PathReader {
    const known = this.#readers.get(rules);
    if (known) return known;
    this.#scanner ??= new JsonScanner();
    const reader = new PathReader(
      this.#scanner,
      rules.map(({ path }) => path.split('.')),
    );
    this.#readers.set(rules, reader);
    return reader;
  }
}
