import type { ChannelLoad, Executing } from '../flow/executing.ts';
import type { Intake } from '../flow/intake.ts';
import { EventBatch } from './event-batch.ts';
import type { EventBatchOwner } from './event-batch.ts';
import type { ExecutionDeadlines } from './execution-deadlines.ts';
import { HeldJobs } from './held-jobs.ts';
import type { Writer } from './outbox/writer.ts';
import { SharedEvent } from './sharing/sharing.ts';
import type { ExecuteEvent, SharingGroup } from './sharing/sharing.ts';
import { Slices } from './slices.ts';
import type { Job } from './slices.ts';

/** For how long, in ms, one turn of the event loop may execute events; then sockets and timers have their turn. */
const SLICE_MS = 10;

/** Bytes of events that may wait for their slice; with more, they are finished at once and Redis waits. */
const MAX_LENGTH = 8 * 1024 * 1024;
/** Bytes of events that may wait because of slow executions. */
const MAX_HELD_LENGTH = 8 * 1024 * 1024;

/** An event, for each of the groups that get it. */
export interface EventShare {
  /** Names the event to clients; without one its results have no cursor. */
  readonly cursor: string | undefined;
  /** Bytes of the event that one group stands for. */
  readonly length: number;
  /** Where it came in; undefined: it is outside of flow control, as is what follows. */
  readonly intake?: Intake | undefined;
  readonly executing?: Executing | undefined;
  /** Of the channel; undefined: none of its events has come under flow control. */
  readonly load?: ChannelLoad | undefined;
}

/**
 * A batch of so many events is written while it is served where much waits to be written. The messages of smaller batches leave a socket
 * in one write: a write for each batch took a third more CPU with 16 events on their way.
 */
const MANY_EVENTS = 16;

export type BacklogWriter = Pick<Writer, 'flush' | 'isFull'>;

/** The events of all channels that wait for their turn. */
export class Backlog {
  readonly #writer: BacklogWriter;
  readonly #slices: Slices;
  readonly #deadlines: ExecutionDeadlines | undefined;
  readonly #held: HeldJobs;
  /** Of batches that are not held. */
  #length = 0;

  /**
   * @param writer of what results have put into outboxes
   * @param deadlines of executions
   */
  constructor(writer: BacklogWriter, deadlines?: ExecutionDeadlines) {
    this.#writer = writer;
    this.#deadlines = deadlines;
    this.#slices = new Slices(SLICE_MS, writer.flush);
    this.#held = new HeldJobs(MAX_HELD_LENGTH, (job) => this.#slices.add(job));
  }

  /** Whether nothing waits. */
  get isIdle(): boolean {
    return this.#slices.isIdle;
  }

  /** Serves an event to all who are members of a group when its turn comes. */
  add(group: SharingGroup, execute: ExecuteEvent, { cursor, length, intake, executing, load }: EventShare): void {
    if (!group.batch?.isOpen) {
      group.batch = new EventBatch(group, this.#owner, load);
      this.#slices.add(group.batch.serve);
    }
    const event = new SharedEvent(group, execute, this.#onMore, { cursor, deadlines: this.#deadlines, executing });
    group.batch.add(event, length, intake);
    this.#length += length;
  }

  /**
   * Does something between the events that came before and those that come now.
   * @param load of the channel that it is about
   */
  enqueue(job: Job, load?: ChannelLoad): void {
    if (!load) return this.#slices.add(job);
    const inTurn: Job = (isSpent) => this.#held.holds(load, inTurn, 0) || job(isSpent);
    this.#slices.add(inTurn);
  }

  keepBound(): void {
    if (this.#length > MAX_LENGTH) this.#slices.finish();
  }

  readonly #owner: EventBatchOwner = {
    onShared: (events) => {
      if (this.#slices.hasOneJob || (events >= MANY_EVENTS && this.#writer.isFull)) this.#writer.flush();
    },
    onServed: (taken) => {
      for (const { intake, length } of taken) {
        this.#length -= length;
        intake?.serve(length);
      }
    },
    isHeld: (batch) => {
      const { load, serve, length } = batch;
      if (!load) return false;
      const before = this.#held.length;
      const isHeld = this.#held.holds(load, serve, length);
      this.#length += before - this.#held.length;
      return isHeld;
    },
  };

  readonly #onMore = (serve: Job): void => this.#slices.add(serve);
}
