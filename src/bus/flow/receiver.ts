import { ChannelLoad } from './channel-load.ts';
import { Intake } from './intake.ts';
import type { Credit, Mark } from './mark.ts';
import { Window } from './window.ts';
import type { WindowLimits } from './window.ts';

export interface ReceiverOptions extends WindowLimits {
  /** Unique name of this gateway, for workers, their logs and metrics. Contains no space. */
  readonly gateway: string;
  /** Most events of a channel in execution at a time; with more, its operations approach `MAX_PENDING_EVENTS`. */
  readonly maxExecuting: number;
  /** Number of open sockets on this gateway. */
  readonly sockets: () => number;
  /** How full the queues of most sockets are, from 0 to 1 and above; a few slow sockets do not count. */
  readonly fill: () => number;
}

/** A gateway gives a partition up when no message of it has arrived for this long, in ms, while its marks advanced. */
const UNWATCHED_MS = 1000;

/** How fast a partition is served, across leases. */
interface Pace {
  readonly window: Window;
  /** Bytes by which marks have advanced. */
  marked: number;
}

/** One stream, and the last credit that the gateway gave for it. */
interface Stream {
  readonly name: string;
  readonly intake: Intake;
  readonly pace: Pace;
  /** The latest mark. */
  mark: number;
  /** The latest credit; undefined: none was given, or the stream was given up. */
  credit: number | undefined;
  /** Messages that had arrived at the latest mark that advanced. */
  arrivals: number;
  /** Since when marks advance without messages, of performance.now(); undefined: messages arrive. */
  silentSince: number | undefined;
}

/**
 * The gateway's half of flow control: answers the marks of workers with credit, so that messages that wait here or in Redis are served
 * within `targetMs`. Pure apart from the clock. Holds an entry for each partition of which a message has arrived.
 */
export class Receiver {
  readonly #options: ReceiverOptions;
  readonly #intakes = new Map<string, Intake>();
  /** The streams of the current leases, by partition. */
  readonly #streams = new Map<string, Stream>();
  readonly #paces = new Map<Intake, Pace>();
  /** Channels with at least half of `maxExecuting` in flight. */
  readonly #busyChannels = new Set<ChannelLoad>();

  constructor(options: ReceiverOptions) {
    this.#options = options;
  }

  /** The gateway's name. */
  get gateway(): string {
    return this.#options.gateway;
  }

  /** Bytes that have arrived and are not served yet. */
  get waiting(): number {
    let bytes = 0;
    for (const { waiting } of this.#intakes.values()) bytes += waiting;
    return Math.round(bytes);
  }

  /** The intake of a partition; the same object each time. */
  intake(topic: string, partition: number): Intake {
    const key = `${topic}/${partition}`;
    let intake = this.#intakes.get(key);
    if (!intake) this.#intakes.set(key, (intake = new Intake(topic, partition)));
    return intake;
  }

  /** Creates the load of a channel. The channel keeps it. */
  load(): ChannelLoad {
    const { maxExecuting, sockets } = this.#options;
    return new ChannelLoad(this.#busyChannels, maxExecuting, sockets);
  }

  /** Returns the credit to answer with; undefined: none is due. */
  onMark(mark: Mark, now = performance.now()): Credit | undefined {
    const key = `${mark.topic}/${mark.partition}`;
    let stream = this.#streams.get(key);
    let advance = mark.bytes - (stream?.mark ?? 0);
    if (stream?.name !== mark.stream) {
      const intake = this.#intakes.get(key);
      if (!intake) return undefined;
      stream = this.#open(mark, intake, stream?.arrivals ?? 0, now);
      this.#streams.set(key, stream);
      advance = mark.bytes;
    } else stream.pace.marked += Math.max(0, advance);
    stream.mark = mark.bytes;
    const isWatched = advance <= 0 || this.#isWatched(stream, now);
    // A stream that was given up receives no credit until one of its messages arrives.
    if (stream.credit === undefined && stream.silentSince !== undefined) return undefined;
    const credit = this.#creditOf(stream, now);
    if (!isWatched) {
      stream.credit = undefined;
      return { ...credit, bytes: undefined };
    }
    // As in HTTP/2 and QUIC: a new credit is due when half of the window is used.
    const isDue = mark.isQuestion || credit.bytes - (stream.credit ?? -Infinity) >= (credit.bytes - credit.served) / 2;
    if (!isDue) return undefined;
    stream.credit = credit.bytes;
    return credit;
  }

  /** Credits without a limit for all streams: this gateway drains, and no worker waits for it from now on. */
  finalCredits(): Credit[] {
    const { gateway } = this.#options;
    const finalCredits: Credit[] = [];
    for (const [key, { name, mark, credit }] of this.#streams) {
      this.#streams.delete(key);
      if (credit === undefined) continue;
      finalCredits.push({ stream: name, gateway, served: mark, bytes: undefined });
    }
    return finalCredits;
  }

  #open({ stream }: Mark, intake: Intake, arrivals: number, now: number): Stream {
    let pace = this.#paces.get(intake);
    if (!pace) {
      pace = { window: new Window(this.#options, -intake.waiting, now), marked: 0 };
      this.#paces.set(intake, pace);
    }
    return { name: stream, intake, pace, mark: 0, credit: undefined, arrivals, silentSince: now };
  }

  #creditOf({ name, intake, pace: { window, marked }, mark }: Stream, now: number) {
    const { gateway } = this.#options;
    const served = mark - intake.waiting;
    window.observe(marked - intake.waiting, now);
    // The whole window up to a load of 0.5, none of it at 1. The rate settles in between.
    const fraction = Math.min(1, Math.max(0, 2 - 2 * this.#loadOf(intake)));
    return { stream: name, gateway, served, bytes: served + window.bytes * fraction };
  }

  /** How full the bounds on executions and on socket queues are for a partition: 1 is full. */
  #loadOf(intake: Intake): number {
    const { maxExecuting, maxBytes, fill } = this.#options;
    let load = Math.max(intake.executingBytes / maxBytes, fill());
    for (const channel of this.#busyChannels)
      if (channel.has(intake)) load = Math.max(load, channel.events / maxExecuting);
    return load;
  }

  /** Call once for each mark that advances. */
  #isWatched(stream: Stream, now: number): boolean {
    const { intake, arrivals } = stream;
    stream.arrivals = intake.arrivals;
    if (intake.arrivals > arrivals || intake.waiting >= 1) {
      stream.silentSince = undefined;
      return true;
    }
    stream.silentSince ??= now;
    return now - stream.silentSince <= UNWATCHED_MS;
  }
}
