import type { PathReader } from '../../base/json/path-reader.ts';
import { argumentTexts } from '../argument-texts.ts';
import type { Refusal } from '../refusal.ts';
import { badInput } from '../request-limits.ts';
import { EventFilter } from './event-filter.ts';
import type { PathTest } from './event-filter.ts';
import type { FilterRule } from './filter-rule.ts';
import { valueTest } from './value-comparison.ts';

/** Of CONTAINS, in UTF-16 code units: in the worst case a search takes the product of both lengths, for each set of arguments. */
const MAX_SEARCHED_LENGTH = 256;

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
