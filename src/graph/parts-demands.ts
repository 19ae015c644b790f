import { unionOf } from '../bus/carried-parts.ts';
import type { PartsDemand } from '../bus/carried-parts.ts';
import type { Binding } from './schema/binding.ts';

/** By topic: what its messages carry of their records, which is all that its fields ask for. Topics that carry nothing are absent. */
export function partsDemands(bindings: Iterable<Binding>): ReadonlyMap<string, PartsDemand> {
  const demands = new Map<string, PartsDemand>();
  for (const { topics, record } of bindings) {
    if (!record) continue;
    for (const topic of topics) demands.set(topic, unionOf(demands.get(topic), record));
  }
  return demands;
}
