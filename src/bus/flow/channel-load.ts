import type { Intake } from './intake.ts';

/** Sums of fractions are inexact: an event count below this is zero. */
const EPSILON = 1e-6;
/**
 * Least size of a channel, as a fraction of the gateway's sockets. Without it, the only client of a channel, with a field that hangs,
 * would stop the partition for all clients.
 */
const MIN_FRACTION = 1 / 64;

/**
 * The events of one channel whose executions are in flight. An event counts by the fraction of the channel's members that wait for it, so
 * that one member of many does not slow the partition.
 */
export class ChannelLoad {
  /** Sum of the events' fractions. */
  events = 0;
  /** The same sum by partition; a partition without events has no entry. */
  readonly #byIntake = new Map<Intake, number>();
  /** Called when the channel stops being full. */
  onRoom: (() => void) | undefined;
  /** Executions that wait for the pod's bound. */
  #waiting = 0;
  readonly #busy: Set<ChannelLoad>;
  readonly #maxEvents: number;
  readonly #sockets: () => number;

  /**
   * @param busy channels with at least half of `maxEvents` in flight; the load adds and removes itself
   * @param sockets number of open sockets on the gateway
   */
  constructor(busy: Set<ChannelLoad>, maxEvents: number, sockets: () => number) {
    this.#busy = busy;
    this.#maxEvents = maxEvents;
    this.#sockets = sockets;
  }

  /** True if the limit of events in flight is reached, or executions wait for the pod's bound. */
  get isFull(): boolean {
    return this.events >= this.#maxEvents || this.#waiting > 0;
  }

  /** The fraction of an event that one member accounts for, where the channel has `members`. */
  fractionOf(members: number): number {
    return 1 / Math.max(1, members, this.#sockets() * MIN_FRACTION);
  }

  has(intake: Intake): boolean {
    return this.#byIntake.has(intake);
  }

  /** @param fraction of an event; negative when an execution has ended */
  add(intake: Intake, fraction: number): void {
    const wasFull = this.isFull;
    this.events += fraction;
    const events = (this.#byIntake.get(intake) ?? 0) + fraction;
    if (events > EPSILON) this.#byIntake.set(intake, events);
    else this.#byIntake.delete(intake);
    if (this.events >= this.#maxEvents / 2) this.#busy.add(this);
    else this.#busy.delete(this);
    if (wasFull && !this.isFull) this.onRoom?.();
  }

  /** @param executions count of those that start to wait for the pod's bound; negative if they have waited */
  wait(executions: number): void {
    const wasFull = this.isFull;
    this.#waiting += executions;
    if (wasFull && !this.isFull) this.onRoom?.();
  }
}

/** The members of a channel on this gateway. */
export interface Audience {
  /** Members that receive the event that is served now. */
  readonly live: number;
}

/** The executions of one event for the members of its channel. */
export class ExecutionLoad {
  readonly #intake: Intake;
  readonly load: ChannelLoad;
  readonly #bytes: number;
  readonly #audience: Audience;
  /** Set at the event's first execution: the event may have been held, and members have come and gone. */
  #fraction: number | undefined;

  constructor(intake: Intake, load: ChannelLoad, bytes: number, audience: Audience) {
    this.#intake = intake;
    this.load = load;
    this.#bytes = bytes;
    this.#audience = audience;
  }

  /** @param members count of those that start to wait for an execution; negative if they stop waiting */
  add(members: number): void {
    const fraction = members * (this.#fraction ??= this.load.fractionOf(this.#audience.live));
    this.#intake.executingBytes += fraction * this.#bytes;
    this.load.add(this.#intake, fraction);
  }
}
