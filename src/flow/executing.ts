import type { Intake } from './intake.ts';

/** Sums of fractions are not exact: an event count below this is zero. */
const NONE = 1e-6;
/**
 * A channel with fewer members than this part of the gateway's sockets counts as if it had so many: a client that is alone on a channel, with
 * a field that hangs, would otherwise stop the partition for all.
 */
const LEAST_PART = 1 / 64;

/**
 * The events of one channel whose executions are in flight. An event counts by the fraction of the channel's members that wait for it, so
 * that one member of many does not slow the partition.
 */
export class ChannelLoad {
  /** Sum of the events' fractions. */
  events = 0;
  /** The same by partition; a partition without events has no entry. */
  readonly #byIntake = new Map<Intake, number>();
  /** Called when the channel stops being full. */
  onRoom: (() => void) | undefined;
  readonly #heavy: Set<ChannelLoad>;
  readonly #maxEvents: number;
  readonly #sockets: () => number;

  /**
   * @param heavy has the channels with at least half of `maxEvents`
   * @param sockets of the gateway
   */
  constructor(heavy: Set<ChannelLoad>, maxEvents: number, sockets: () => number) {
    this.#heavy = heavy;
    this.#maxEvents = maxEvents;
    this.#sockets = sockets;
  }

  /** Whether as many events are executed as may be at a time. */
  get isFull(): boolean {
    return this.events >= this.#maxEvents;
  }

  /** The fraction that one of so many members stands for. */
  partOf(members: number): number {
    return 1 / Math.max(1, members, this.#sockets() * LEAST_PART);
  }

  has(intake: Intake): boolean {
    return this.#byIntake.has(intake);
  }

  /** @param part fraction of an event; negative when an execution has ended */
  add(intake: Intake, part: number): void {
    const wasFull = this.isFull;
    this.events += part;
    const events = (this.#byIntake.get(intake) ?? 0) + part;
    if (events > NONE) this.#byIntake.set(intake, events);
    else this.#byIntake.delete(intake);
    if (this.events >= this.#maxEvents / 2) this.#heavy.add(this);
    else this.#heavy.delete(this);
    if (wasFull && !this.isFull) this.onRoom?.();
  }
}

/** The executions of one event for the members of its channel. */
export class Executing {
  readonly #intake: Intake;
  readonly #load: ChannelLoad;
  readonly #bytes: number;
  readonly #part: number;

  /** @param members of the channel on this gateway that get the event */
  constructor(intake: Intake, load: ChannelLoad, bytes: number, members: number) {
    this.#intake = intake;
    this.#load = load;
    this.#bytes = bytes;
    this.#part = load.partOf(members);
  }

  /** @param members that wait for an execution from now on; negative: that wait no longer */
  add(members: number): void {
    const part = members * this.#part;
    this.#intake.executing += part * this.#bytes;
    this.#load.add(this.#intake, part);
  }
}
