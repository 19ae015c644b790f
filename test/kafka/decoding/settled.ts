import assert from 'node:assert/strict';
import { PendingConversion } from '../../../src/kafka/batch.ts';
import type { Conversion, Converted } from '../../../src/kafka/batch.ts';

/** The conversion of a record for which nothing is fetched. */
export function settled(converted: Converted | Promise<Converted>): Conversion {
  assert.ok(!(converted instanceof Promise) && !(converted instanceof PendingConversion));
  return converted;
}
