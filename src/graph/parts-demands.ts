import { unionOf } from '../bus/carried-parts.ts';
import type { PartsDemand } from '../bus/carried-parts.ts';
import type { Binding } from './schema/binding.ts';

/** What a pace asks for, to know the newest event of a key. */
const ID: PartsDemand = { key: false, headers: [], id: true };

/** By topic: what its messages carry of their records, which is all that its fields ask for. Topics that carry nothing are absent. */
export function partsDemands(bindings: Iterable<Binding>): ReadonlyMap<string, PartsDemand> {
  const demands = new Map<string, PartsDemand>();
  for (const { topics, record, pace } of bindings) {
    const demand = pace && !pace.isOfChannel ? unionOf(record, ID) : record;
    if (!demand) continue;
    for (const topic of topics) demands.set(topic, unionOf(demands.get(topic), demand));
  }
  return demands;
}
