import { parseExactly } from '../../../base/json/exact-numbers.ts';
import { UndecodableError } from '../decoder.ts';
import { isDeeper } from '../record.ts';
import type { ConvertValue } from './connect-value.ts';

/** The JSON that a text holds. A text that is no JSON stays, such as the placeholder of a value that the database did not log. */
export const jsonOf: ConvertValue = (value, _texts, levels) => {
  if (typeof value !== 'string') return value;
  if (isDeeper(Buffer.from(value), levels)) throw new UndecodableError('too_deep');
  try {
    return parseExactly(value);
  } catch {
    return value;
  }
};
