import { channelLabel } from '../../bus/channel.ts';
import type { LogWindow, Logger } from '../../base/log.ts';
import type { Operation } from '../../graph/documents/operation.ts';
import type { EventExecutor } from '../../graph/execution/event-executor.ts';
import type { RowOutcome, RowPayload } from '../../graph/row-payload.ts';
import type { GroupEvent } from './sharing/sharing-group.ts';

/** What the members of a group receive of a change: the result of this payload, or their completion. */
export type RowDelivery = RowPayload | 'COMPLETE';

/** Completes each subscription. */
export const COMPLETION: GroupEvent = {
  serve: (member) => {
    member.complete();
    return false;
  },
};

/** Decides what the changes of rows are for the fields of their channels. */
export class RowDeliveries {
  readonly #executor: Pick<EventExecutor, 'rulesOf'>;
  readonly #log: Logger;
  readonly #logWindow: LogWindow;

  constructor(executor: Pick<EventExecutor, 'rulesOf'>, log: Logger, logWindow: LogWindow) {
    this.#executor = executor;
    this.#log = log;
    this.#logWindow = logWindow;
  }

  /** @param isState true: it is what a subscription begins with, or what it has instead of the events that it missed. undefined: nothing */
  of(row: RowPayload, outcome: RowOutcome, operation: Operation, isState: boolean): RowDelivery | undefined {
    const { onDelete, skipsSnapshots, isNullable } = this.#executor.rulesOf(operation);
    if (outcome === 'present') return skipsSnapshots && !isState && row.change?.op === 'READ' ? undefined : row;
    if (onDelete === 'COMPLETE') return onDelete;
    if (onDelete === 'NULL') return row.withoutRow;
    if (onDelete !== 'ROW') return undefined;
    if (row.asItWas) return row.asItWas;
    if (isNullable) return row.withoutRow;
    this.#logUnknownRow(row.channel);
    return undefined;
  }

  #logUnknownRow(channel: string): void {
    this.#logWindow.run('unknown row', (suppressed) =>
      this.#log.warn(
        { channel: channelLabel(channel), suppressed },
        'a delete reached no subscription of a field with tombstone: ROW, because the source does not say what the row was and the field cannot be ' +
          'null. Let the source send rows before (PostgreSQL: ALTER TABLE … REPLICA IDENTITY FULL), or make the field nullable',
      ),
    );
  }
}
