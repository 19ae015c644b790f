import type { EventFilter } from '../../graph/filter/event-filter.ts';
import type { Payload } from '../../graph/payload.ts';
import type { RowOutcome, RowPayload } from '../../graph/row-payload.ts';
import type { SharingGroup } from './sharing/sharing-group.ts';

interface Filtered {
  readonly filter: EventFilter;
  readonly groups: Set<SharingGroup>;
}

/** The groups of one channel that have a filter. Groups with equal filters share one evaluation for each event. */
export class FilteredGroups {
  /** By `EventFilter.key`. */
  readonly #byFilter = new Map<string, Filtered>();

  /** Number of different filters. */
  get size(): number {
    return this.#byFilter.size;
  }

  add(group: SharingGroup, filter: EventFilter): void {
    const filtered = this.#byFilter.get(filter.key);
    if (filtered) filtered.groups.add(group);
    else this.#byFilter.set(filter.key, { filter, groups: new Set([group]) });
  }

  delete(group: SharingGroup, { key }: EventFilter): void {
    const filtered = this.#byFilter.get(key);
    if (filtered?.groups.delete(group) && filtered.groups.size === 0) this.#byFilter.delete(key);
  }

  /** The groups that receive an event: of `groups` those without a filter, and those whose filter accepts it. */
  receivers(groups: Iterable<SharingGroup>, payload: Payload): ReadonlySet<SharingGroup> {
    const receivers = new Set<SharingGroup>();
    for (const group of groups) if (group.filter === undefined) receivers.add(group);
    for (const { filter, groups: filtered } of this.#byFilter.values()) {
      if (filter.accepts(payload)) for (const group of filtered) receivers.add(group);
    }
    return receivers;
  }

  /** What the change of a row is for each group with a filter; groups for which it is nothing are absent. */
  *outcomesOf(row: RowPayload): Iterable<readonly [SharingGroup, RowOutcome]> {
    for (const { filter, groups } of this.#byFilter.values()) {
      const outcome = row.outcomeFor(filter);
      if (outcome) for (const group of groups) yield [group, outcome];
    }
  }
}
