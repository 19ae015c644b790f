import type { PathReader } from '../../base/json/path-reader.ts';
import { valueAt } from '../../base/json/value-at.ts';
import type { Payload } from '../payload.ts';

/** Whether a value of a payload passes; undefined stands for an absent value. */
export type ValueTest = (value: unknown) => boolean;

export interface PathTest {
  readonly path: readonly string[];
  /** Of the path among those of the reader. */
  readonly index: number;
  readonly passes: ValueTest;
}

/** Decides which events of its channels a subscription receives. It depends on nothing but its rules and arguments. */
export class EventFilter {
  /** Equal for filters with equal rules and arguments. */
  readonly key: string;
  readonly #tests: readonly PathTest[];
  readonly #reader: PathReader | undefined;

  constructor(key: string, tests: readonly PathTest[], reader?: PathReader) {
    this.key = key;
    this.#tests = tests;
    this.#reader = reader;
  }

  /**
   * True if the value passes every rule. A tombstone (null) passes: a subscriber must learn that what it has seen was deleted. So does a
   * payload that is not JSON, of which the client receives an error.
   */
  accepts(payload: Pick<Payload, 'value' | 'valuesAt'>): boolean {
    const values = this.#reader && payload.valuesAt?.(this.#reader);
    if (!values) return this.#acceptsValue(payload);
    for (const { index, passes } of this.#tests) if (!passes(values[index])) return false;
    return true;
  }

  #acceptsValue(payload: Pick<Payload, 'value'>): boolean {
    let value: unknown;
    try {
      value = payload.value;
    } catch {
      return true;
    }
    if (value === null) return true;
    for (const { path, passes } of this.#tests) if (!passes(valueAt(value, path))) return false;
    return true;
  }
}
