import type { Intake } from './intake.ts';

/** Sums of fractions are not exact: an event count below this is zero. */
const NONE = 1e-6;

/**
 * The events of one channel whose executions are in flight. An event counts by the fraction of the channel's members that wait for it, so
 * that one member of many does not slow the partition.
 */
export class ChannelLoad {
  /** Sum of the events' fractions. */
  events = 0;
  /** The same by partition; a partition without events has no entry. */
  readonly #byIntake = new Map<Intake, number>();
  readonly #heavy: Set<ChannelLoad>;
  readonly #heavyFrom: number;

  /** @param heavy has the channels with at least `heavyFrom` events */
  constructor(heavy: Set<ChannelLoad>, heavyFrom: number) {
    this.#heavy = heavy;
    this.#heavyFrom = heavyFrom;
  }

  has(intake: Intake): boolean {
    return this.#byIntake.has(intake);
  }

  /** @param part fraction of an event; negative when an execution has ended */
  add(intake: Intake, part: number): void {
    this.events += part;
    const events = (this.#byIntake.get(intake) ?? 0) + part;
    if (events > NONE) this.#byIntake.set(intake, events);
    else this.#byIntake.delete(intake);
    if (this.events >= this.#heavyFrom) this.#heavy.add(this);
    else this.#heavy.delete(this);
  }
}

/** The executions of one event for the members of its channel. */
export class Executing {
  readonly #intake: Intake;
  readonly #load: ChannelLoad;
  readonly #bytes: number;
  readonly #members: number;

  /** @param members of the channel on this gateway that get the event */
  constructor(intake: Intake, load: ChannelLoad, bytes: number, members: number) {
    this.#intake = intake;
    this.#load = load;
    this.#bytes = bytes;
    this.#members = members;
  }

  /** @param members that wait for an execution from now on; negative: that wait no longer */
  add(members: number): void {
    const part = members / this.#members;
    this.#intake.executing += part * this.#bytes;
    this.#load.add(this.#intake, part);
  }
}
