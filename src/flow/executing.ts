import type { Intake } from './intake.ts';

/** A rounding may be left of many parts. */
const NONE = 1e-6;

/**
 * The events of one channel that are executed now. An event counts by the part of the channel's members that waits for it, so that no
 * client that waits alone slows a partition.
 */
export class ChannelLoad {
  /** Events, each by its part. */
  events = 0;
  /** Of them, by the partition that they came from; holds no partition without one. */
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

  /** @param part negative: is executed no longer */
  add(intake: Intake, part: number): void {
    this.events += part;
    const events = (this.#byIntake.get(intake) ?? 0) + part;
    if (events > NONE) this.#byIntake.set(intake, events);
    else this.#byIntake.delete(intake);
    if (this.events >= this.#heavyFrom) this.#heavy.add(this);
    else this.#heavy.delete(this);
  }
}

/** One event of a channel that is executed for its members. */
export class Executing {
  readonly #intake: Intake;
  readonly #load: ChannelLoad;
  readonly #bytes: number;
  readonly #members: number;

  /** @param members who get the event on this gateway */
  constructor(intake: Intake, load: ChannelLoad, bytes: number, members: number) {
    this.#intake = intake;
    this.#load = load;
    this.#bytes = bytes;
    this.#members = members;
  }

  /** So many members wait for an execution; a negative number: they wait no longer. */
  add(members: number): void {
    const part = members / this.#members;
    this.#intake.executing += part * this.#bytes;
    this.#load.add(this.#intake, part);
  }
}
