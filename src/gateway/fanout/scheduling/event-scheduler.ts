import type { ChannelLoad } from '../../../bus/flow/channel-load.ts';
import type { Intake } from '../../../bus/flow/intake.ts';
import type { Writer } from '../outbox/writer.ts';
import type { GroupEvent, SharingGroup } from '../sharing/sharing-group.ts';
import { ConnectingTurns } from './connecting-turns.ts';
import type { ConnectingClients } from './connecting-turns.ts';
import { MANY_EVENTS, MAX_HELD_JOB_BYTES, MAX_WAITING_BYTES, SLICE_MS } from './bounds.ts';
import { EventBatch } from './event-batch.ts';
import type { EventBatchOwner } from './event-batch.ts';
import { HeldJobs } from './held-jobs.ts';
import { TurnSlices } from './turn-slices.ts';
import type { Job } from './turn-slices.ts';

/** The cost of serving an event to one group. */
export interface EventShare {
  /** Bytes of the event, divided by the number of its groups. */
  readonly length: number;
  /** Intake of the event's partition; undefined: the event is outside of flow control. */
  readonly intake?: Intake | undefined;
  /** Executions of the channel; undefined: none of its events has come under flow control. */
  readonly load?: ChannelLoad | undefined;
}

export type SchedulerWriter = Pick<Writer, 'flush' | 'isFull'>;

/**
 * Decides when the events of all channels are served. The events of one group that arrive in one turn of the event loop form a batch.
 * Batches are served in order, in slices (`TurnSlices`). A channel at its limit of executions in flight waits (`HeldJobs`).
 */
export class EventScheduler {
  readonly #writer: SchedulerWriter;
  readonly #slices: TurnSlices;
  readonly #held: HeldJobs;
  /** Bytes of batches that are not held. */
  #waitingBytes = 0;

  /**
   * @param writer writes the outboxes that have received results
   * @param clients have turns between the events; default: none connects
   */
  constructor(writer: SchedulerWriter, clients?: ConnectingClients) {
    this.#writer = writer;
    this.#slices = new TurnSlices(SLICE_MS, writer.flush, clients && new ConnectingTurns(clients));
    clients?.start(this.#slices.wake);
    this.#held = new HeldJobs(MAX_HELD_JOB_BYTES, this.schedule);
  }

  /** Serves an event to all members that the group has when its turn comes. */
  add(group: SharingGroup, event: GroupEvent, { length, intake, load }: EventShare): void {
    if (!group.batch?.isOpen) {
      const batch = new EventBatch(group, this.#owner, load);
      group.batch = batch;
      this.#slices.add(batch.serve);
    }
    group.batch.add(event, length, intake);
    this.#waitingBytes += length;
  }

  /** Runs a job after the events added before it and before those added after it. */
  readonly schedule = (job: Job): void => this.#slices.add(job);

  /** See `TurnSlices`. */
  readonly scheduleLast = (work: () => void): void => this.#slices.addLast(work);

  /** As `schedule`, for a job that keeps its order among the events of a channel: it is held with them. */
  scheduleInChannel(load: ChannelLoad | undefined, job: Job): void {
    if (!load) return this.schedule(job);
    const inTurn: Job = (isSpent) => this.#held.holds(load, inTurn, 0) || job(isSpent);
    this.schedule(inTurn);
  }

  keepBound(): void {
    if (this.#waitingBytes > MAX_WAITING_BYTES) this.#slices.finish();
  }

  readonly #owner: EventBatchOwner = {
    onShared: (events) => {
      if (this.#slices.hasOneJob || (events >= MANY_EVENTS && this.#writer.isFull)) this.#writer.flush();
    },
    onServed: (served) => {
      for (const { intake, length } of served) {
        this.#waitingBytes -= length;
        intake?.serve(length);
      }
    },
    isHeld: (batch) => {
      const { load, serve, length } = batch;
      if (!load) return false;
      const before = this.#held.length;
      const isHeld = this.#held.holds(load, serve, length);
      this.#waitingBytes += before - this.#held.length;
      return isHeld;
    },
  };
}
