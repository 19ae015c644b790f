import { EventBatch } from './event-batch.ts';
import type { EventBatchOwner } from './event-batch.ts';
import type { ExecutionDeadlines } from './execution-deadlines.ts';
import { SharedEvent } from './sharing.ts';
import type { ExecuteEvent, SharingGroup } from './sharing.ts';
import { Slices } from './slices.ts';
import type { Job } from './slices.ts';

/** For how long, in ms, one turn of the event loop may execute events; then sockets and timers have their turn. */
const SLICE_MS = 10;

/** Bytes of events that may wait for their slice; with more, they are finished at once and Redis waits. */
const MAX_LENGTH = 8 * 1024 * 1024;

/** The events of all channels that wait for their turn. */
export class Backlog {
  readonly #flush: () => void;
  readonly #slices: Slices;
  readonly #deadlines: ExecutionDeadlines | undefined;
  #length = 0;

  /**
   * @param flush writes what results have put into outboxes
   * @param deadlines of executions
   */
  constructor(flush: () => void, deadlines?: ExecutionDeadlines) {
    this.#flush = flush;
    this.#deadlines = deadlines;
    this.#slices = new Slices(SLICE_MS, flush);
  }

  /** Whether nothing waits. */
  get isIdle(): boolean {
    return this.#slices.isIdle;
  }

  /**
   * Serves an event to all who are members of a group when its turn comes.
   * @param cursor names the event to clients; without one its results have no cursor
   * @param length bytes of it that this group stands for
   */
  add(group: SharingGroup, execute: ExecuteEvent, cursor: string | undefined, length: number): void {
    if (!group.batch?.isOpen) {
      group.batch = new EventBatch(group, this.#owner);
      this.#slices.add(group.batch.serve);
    }
    group.batch.add(new SharedEvent(group, execute, this.#onMore, { cursor, deadlines: this.#deadlines }), length);
    this.#length += length;
  }

  /** Does something between the events that came before and those that come now. */
  enqueue(job: Job): void {
    this.#slices.add(job);
  }

  keepBound(): void {
    if (this.#length > MAX_LENGTH) this.#slices.finish();
  }

  readonly #owner: EventBatchOwner = {
    onShared: () => {
      if (this.#slices.hasOneJob) this.#flush();
    },
    onServed: (length) => {
      this.#length -= length;
    },
  };

  readonly #onMore = (serve: Job): void => this.enqueue(serve);
}
