import { kindOf, placeOf } from './described.ts';
import { rawColumn } from './raw-values.ts';

interface Column {
  readonly path: readonly string[];
  readonly values: unknown[];
}

/** A field whose values Debezium wrote without the names of their types. */
interface RawField {
  readonly coordinate: string;
  /** What its records have, and how to fix it. */
  readonly found: string;
  /** False: the values may be meant so. */
  readonly isCertain: boolean;
}

/** The values of each field in rows of Debezium without a schema, whatever the field's type is. */
export class RawColumns {
  readonly #columns = new Map<string, Column>();

  add(coordinate: string, path: readonly string[], value: unknown): void {
    const column = this.#columns.get(coordinate) ?? { path, values: [] };
    column.values.push(value);
    this.#columns.set(coordinate, column);
  }

  get found(): readonly RawField[] {
    return [...this.#columns].flatMap(([coordinate, { path, values }]) => {
      const raw = rawColumn(path.at(-1) ?? '', values);
      if (!raw) return [];
      const found = `${kindOf(values.at(-1))} at ${placeOf(path)} ${raw.likeness}; ${raw.fix}`;
      return [{ coordinate, found, isCertain: raw.isCertain }];
    });
  }
}
