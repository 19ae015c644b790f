import type { ChangeDemand } from '../bus/change-text.ts';
import type { Binding } from './schema/binding.ts';
import { NO_DEMAND } from './schema/change-demand.ts';

/**
 * By topic with an `envelope`: what the changes of its messages must have, which is all that its fields ask for. A filter compares the row
 * before, too, if the field says what a delete does.
 */
export function changeDemands(bindings: Iterable<Binding>): ReadonlyMap<string, ChangeDemand> {
  const demands = new Map<string, ChangeDemand>();
  for (const { topics, filters = [], tombstone, change } of bindings) {
    if (!change) continue;
    const isCompared = tombstone === 'ROW' || (tombstone !== undefined && filters.length > 0);
    for (const topic of topics) {
      const known = demands.get(topic) ?? NO_DEMAND;
      demands.set(topic, {
        before: known.before || change.before || isCompared,
        sourceTimestamp: known.sourceTimestamp || change.sourceTimestamp,
        transaction: known.transaction || change.transaction,
        isSnapshot: known.isSnapshot || change.isSnapshot,
      });
    }
  }
  return demands;
}
