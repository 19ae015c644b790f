import type { PathReader } from '../../base/json/path-reader.ts';
import { valueAt } from '../../base/json/value-at.ts';
import { argumentTexts } from '../argument-texts.ts';
import type { Payload } from '../payload.ts';
import type { Refusal } from '../refusal.ts';
import { badInput } from '../request-limits.ts';
import type { FilterRule } from './filter-rule.ts';
import { valueTest } from './value-comparison.ts';
import type { ValueTest } from './value-comparison.ts';

/** Of CONTAINS, in UTF-16 code units: in the worst case a search takes the product of both lengths, for each set of arguments. */
const MAX_SEARCHED_LENGTH = 256;

interface PathTest {
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

/**
 * undefined: no argument restricts the events, because all of them are left out or null.
 * @param args coerced
 * @param reader of the paths of the rules, in their order; undefined: payloads are parsed
 */
export function filterFor(
  rules: readonly FilterRule[],
  args: Readonly<Record<string, unknown>>,
  reader?: PathReader,
): EventFilter | Refusal | undefined {
  const tests: PathTest[] = [];
  const identity: unknown[] = [];
  for (const [index, rule] of rules.entries()) {
    const texts = argumentTexts(args, rule);
    if (texts === undefined) continue;
    if ('errors' in texts) return texts;
    if (rule.op === 'CONTAINS' && texts[0]!.length > MAX_SEARCHED_LENGTH) {
      return badInput(`The argument "${rule.arg}" may have ${MAX_SEARCHED_LENGTH} characters`);
    }
    tests.push({ path: rule.path.split('.'), index, passes: valueTest(rule, texts) });
    identity.push([rule.path, rule.op, rule.comparison, ...texts]);
  }
  return tests.length === 0 ? undefined : new EventFilter(JSON.stringify(identity), tests, reader);
}
