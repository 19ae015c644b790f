import type { Subscription } from '../subscription.ts';
import type { EventExecutor } from '../../../graph/execution/event-executor.ts';
import type { GroupEvent } from './sharing-group.ts';

/** A tombstone, for the members of one group: each receives null, completes, or is skipped, as the binding of its field says. */
export class TombstoneEvent implements GroupEvent {
  readonly #executor: Pick<EventExecutor, 'rulesOf'>;
  readonly #delivery: GroupEvent;

  /** @param delivery delivers the null like any other payload */
  constructor(executor: Pick<EventExecutor, 'rulesOf'>, delivery: GroupEvent) {
    this.#executor = executor;
    this.#delivery = delivery;
  }

  serve(member: Subscription): boolean {
    const { onDelete } = this.#executor.rulesOf(member.operation);
    if (onDelete === 'NULL') return this.#delivery.serve(member);
    if (onDelete === 'COMPLETE') member.complete();
    return false;
  }
}
