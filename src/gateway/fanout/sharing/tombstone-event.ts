import type { ChannelEvent } from '../channel-event.ts';
import type { Subscription } from '../subscription.ts';
import type { EventExecutor } from '../../../graph/execution/event-executor.ts';
import type { GroupEvent } from './sharing-group.ts';

/** Bytes of `null`, the payload of a tombstone. */
const LENGTH = 4;

/** True if the event's record has no value. Its topic has no `envelope`. */
export function isTombstone({ length, payload }: Pick<ChannelEvent, 'length' | 'payload'>): boolean {
  if (length !== LENGTH) return false;
  try {
    return payload.value === null;
  } catch {
    // Not JSON: a forged message. Executions report it.
    return false;
  }
}

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
