import type { Intake } from '../../../bus/flow/intake.ts';
import type { EventResult } from '../../../graph/execution/event-executor.ts';
import type { Operation } from '../../../graph/documents/operation.ts';
import type { EventFilter } from '../../../graph/filter/event-filter.ts';
import type { Pace } from '../../../graph/pace.ts';
import type { Subscription } from '../subscription.ts';
import { AnswerClasses } from './answer-classes.ts';

/** Read sets that a group remembers, so that its members need not be classified again at the next event. */
const MAX_REMEMBERED = 8;

/** One event, as a batch serves it. */
export interface GroupEvent {
  /** Returns true if the member needed an execution. */
  serve(member: Subscription): boolean;
}

/** Events that wait for the group's turn in the scheduler. */
export interface GroupBatch {
  /** True while it accepts one more event. */
  readonly isOpen: boolean;
  add(event: GroupEvent, length: number, intake: Intake | undefined): void;
}

/** Events that wait for the pace of the group (`PacedEvents`). */
export interface WaitingEvents {
  /** The member receives the events from the next one on. */
  admit(member: Subscription): void;
  /** Delivers the events that wait for their interval. */
  flush(): void;
  /** Delivers what waits to a member that is about to leave, and to no other. */
  sendWaiting(member: Subscription): void;
  /** A member leaves the group. @param next the group that it moves to; undefined: it has ended */
  leave(member: Subscription, next: SharingGroup | undefined): void;
  /** The group has no members any more. */
  close(): void;
}

/** The subscriptions of a channel that may share results. */
export class SharingGroup {
  /** The channel's name for the group: the sharing key, or the subscription that shares with nobody. */
  readonly key: string | Subscription;
  readonly members = new Set<Subscription>();
  /** The state of each member in its channel: one object for all, because a channel may have thousands. */
  readonly liveMember: { readonly status: 'live'; readonly group: SharingGroup } = { status: 'live', group: this };
  /** Members join while an event is served, so results are kept also where no current member needs them. */
  readonly isReplay: boolean;
  /** Decides which events its members receive: their arguments are equal. undefined: they receive all events of the channel. */
  readonly filter: EventFilter | undefined;
  /**
   * Its members run this operation, also while one of them is about to leave for a group of another graph. undefined: that of a member.
   */
  readonly operation: Operation | undefined;
  /** Decides how often its members receive events. undefined: they receive each. */
  readonly pace: Pace | undefined;
  /** Events that wait because of its pace; undefined: it has none, or no event has come. */
  waiting: WaitingEvents | undefined;
  /** The latest batch that is not served completely. */
  batch: GroupBatch | undefined;
  /** By read set, the latest first. */
  #remembered: readonly AnswerClasses<Subscription>[] = [];

  constructor(key: string | Subscription, isReplay = false, filter?: EventFilter, operation?: Operation, pace?: Pace) {
    this.key = key;
    this.isReplay = isReplay;
    this.filter = filter;
    this.operation = operation;
    this.pace = pace;
  }

  delete(member: Subscription): boolean {
    for (const classes of this.#remembered) classes.delete(member);
    return this.members.delete(member);
  }

  /** The classes of the read set that the last execution had: the next execution will most likely have the same. */
  get expected(): AnswerClasses<Subscription> | undefined {
    return this.#remembered[0];
  }

  classesFor(reads: EventResult['reads']): AnswerClasses<Subscription> {
    const classes = this.#remembered.find((known) => known.isFor(reads)) ?? new AnswerClasses<Subscription>(reads);
    if (classes === this.expected) return classes;
    const others = this.#remembered.filter((known) => known !== classes);
    this.#remembered = [classes, ...others].slice(0, MAX_REMEMBERED);
    return classes;
  }
}
