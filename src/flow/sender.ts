import { setMaxListeners } from 'node:events';
import type { Credit, Mark } from './mark.ts';
import { UNLIMITED } from './room.ts';
import type { Room } from './room.ts';

export interface SenderOptions {
  /** A gateway without progress for so long, in ms, is left behind. undefined: flow control is off, and nothing is limited. */
  readonly patienceMs: number | undefined;
  /** Asks the gateways of a stream for credit: publishes a mark. Must not throw. */
  readonly ask: (topic: string, partition: number) => void;
}

/** Published before a gateway has answered: as much as a slow one may have on its way. */
const FIRST_BYTES = 65_536;
/**
 * Where there is any room of a window of this size or a larger one, there is this much, in bytes. In smaller pieces the records of one burst reach the gateways one after another, and
 * each costs a socket a write: with 16 events on their way a delivery took 1.3 times the CPU.
 */
const LEAST_ROOM = 65_536;
/**
 * Where no gateway has answered within this part of the patience, only subscribers without flow control receive the stream. An answer comes
 * after the messages of the previous lease that are still on their way, about FLOW_TARGET_MS.
 */
const FIRST_PATIENCE = 0.2;
/** Between two questions, while a partition waits, in ms. */
const ASK_INTERVAL_MS = 10;
/** Partitions that are asked for at a time; where more wait, they take turns. */
const MAX_QUESTIONS = 10;
/** In ms: what was published longer ago has been served, though no gateway was asked since. */
const IDLE_MS = 10_000;
/**
 * A mark is due after MARK_BYTES and MARK_INTERVAL_MS, or after MAX_UNMARKED_BYTES: less than 1 % of what the messages cost Redis.
 * A stream that has published less since it began is not limited.
 */
const MARK_BYTES = 16_384;
const MARK_INTERVAL_MS = 50;
const MAX_UNMARKED_BYTES = 262_144;
/** A gateway that was left behind is forgotten after a silence of so many times the patience. */
const GONE_AFTER = 12;

/** What a gateway said of a stream. */
interface Told {
  served: number;
  /** Progress is seen by it, and not by the credit, which follows the load of the gateway up and down. */
  mostServed: number;
  credit: number;
  /** Since when it lets nothing be published and serves nothing; undefined: there is room. */
  stuckSince: number | undefined;
  /** It was without progress for too long, and has had no room since. */
  isLeftBehind: boolean;
}

/** One lease of a partition on one server. */
interface Stream {
  readonly name: string;
  /** Of its partition. */
  readonly key: string;
  published: number;
  /** When `published` grew last, of performance.now(). */
  publishedAt: number;
  /** `published` at the last mark, and the time of that mark, of performance.now(). */
  marked: number;
  markedAt: number;
  readonly told: Map<string, Told>;
  /** Least room, in bytes, after chunks of which nobody received anything: twice as much with each of them. 0: the last one was received. */
  unreceived: number;
  /** No gateway answered the first bytes, or the last one said farewell: nothing limits the stream until a gateway answers. */
  isFree: boolean;
  /** Since when the first bytes are used up without an answer. */
  unansweredSince: number | undefined;
}

/** The calls of `whenRoom` for one partition. */
interface Waiting {
  readonly topic: string;
  readonly partition: number;
  readonly ends: Set<() => void>;
}

/**
 * The worker's half of flow control: keeps what it publishes within the credit of the slowest gateway that makes progress. Pure but for
 * clock and timer. Holds an entry for each leased partition on each server, and in it one for each gateway.
 */
export class Sender {
  readonly #options: SenderOptions;
  readonly #patienceMs: number;
  /** By partition: the current lease's, by server. */
  readonly #partitions = new Map<string, Map<string, Stream>>();
  /** The same, by name. */
  readonly #streams = new Map<string, Stream>();
  /** When each gateway said something last, of performance.now(). */
  readonly #heardAt = new Map<string, number>();
  /** Gateways that were silent for as long as the patience. */
  readonly #silent = new Set<string>();
  /** By partition. */
  readonly #waiting = new Map<string, Waiting>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#patienceMs = options.patienceMs ?? Infinity;
  }

  /** False where flow control is off. */
  get isEnabled(): boolean {
    return this.#options.patienceMs !== undefined;
  }

  /** Begins the stream of a lease on a server, and forgets that of the previous lease. */
  open(server: string, topic: string, partition: number, name: string): void {
    if (!this.isEnabled) return;
    const key = keyOf(topic, partition);
    const streams = this.#partitions.get(key) ?? new Map<string, Stream>();
    this.#partitions.set(key, streams);
    this.#streams.delete(streams.get(server)?.name ?? '');
    const counts = { published: 0, publishedAt: -Infinity, marked: 0, markedAt: -Infinity };
    const state = { unreceived: 0, isFree: false, unansweredSince: undefined };
    const stream: Stream = { name, key, ...counts, told: new Map(), ...state };
    streams.set(server, stream);
    this.#streams.set(name, stream);
  }

  /** Bytes published since the stream began; 0: it is not known. */
  published(name: string): number {
    return this.#streams.get(name)?.published ?? 0;
  }

  /**
   * The mark to publish with the next messages; a question where they use all of the room.
   * @param bytes of what is published next, if all of it reaches somebody
   * @returns `bytes`: published before it; undefined: no mark is due
   */
  dueMark(name: string, bytes: number, now = performance.now()): Pick<Mark, 'bytes' | 'isQuestion'> | undefined {
    const stream = this.#streams.get(name);
    if (!stream) return undefined;
    const unmarked = stream.published + bytes - stream.marked;
    const isQuestion = bytes > 0 && this.#roomOf(stream, now).bytes <= bytes;
    const isDue =
      unmarked >= MAX_UNMARKED_BYTES || (unmarked >= MARK_BYTES && now - stream.markedAt >= MARK_INTERVAL_MS);
    if (!isQuestion && !isDue) return undefined;
    stream.marked = stream.published + bytes;
    stream.markedAt = now;
    return { bytes: stream.published, isQuestion };
  }

  /** So many bytes reached somebody. */
  add(name: string, bytes: number, now = performance.now()): void {
    const stream = this.#streams.get(name);
    if (!stream) return;
    stream.published += bytes;
    if (bytes > 0) stream.publishedAt = now;
    stream.unreceived = bytes > 0 ? 0 : Math.max(FIRST_BYTES, 2 * stream.unreceived);
  }

  hear({ stream: name, gateway, served, bytes }: Credit, now = performance.now()): void {
    this.#heardAt.set(gateway, now);
    this.#silent.delete(gateway);
    const stream = this.#streams.get(name);
    if (!stream) return;
    if (bytes === undefined) {
      this.#forget(stream, gateway);
    } else {
      const told = stream.told.get(gateway);
      const state = { stuckSince: undefined, isLeftBehind: false };
      if (!told) stream.told.set(gateway, { served, mostServed: served, credit: bytes, ...state });
      else {
        if (served > told.mostServed) Object.assign(told, { mostServed: served, stuckSince: undefined });
        Object.assign(told, { served, credit: bytes });
      }
    }
    this.#release(stream.key, now);
  }

  room(topic: string, partition: number, now = performance.now()): Room {
    let room = UNLIMITED;
    for (const stream of this.#partitions.get(keyOf(topic, partition))?.values() ?? []) {
      const other = this.#roomOf(stream, now, LEAST_ROOM);
      if (other.bytes < room.bytes) room = other;
    }
    return room;
  }

  /** Resolves when the partition has room, or the signal is aborted. Never rejects. */
  whenRoom(topic: string, partition: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.room(topic, partition).bytes > 0) return Promise.resolve();
    this.#options.ask(topic, partition);
    // A bus in this process has answered by now.
    if (this.room(topic, partition).bytes > 0) return Promise.resolve();
    this.#timer ??= setInterval(() => this.#onTurn(), ASK_INTERVAL_MS);
    const key = keyOf(topic, partition);
    const waiting = this.#waiting.get(key) ?? { topic, partition, ends: new Set() };
    this.#waiting.set(key, waiting);
    return new Promise((resolve) => {
      const end = () => {
        signal.removeEventListener('abort', end);
        waiting.ends.delete(end);
        if (waiting.ends.size === 0) this.#waiting.delete(key);
        if (this.#waiting.size === 0) this.#stopTimer();
        resolve();
      };
      waiting.ends.add(end);
      // All partitions of a worker wait with one signal: many listeners are no leak, of which Node.js would warn.
      setMaxListeners(0, signal);
      signal.addEventListener('abort', end);
    });
  }

  /** By gateway: bytes that were published and are not served there, of the partition with the most of them. */
  lags(now = performance.now()): Map<string, number> {
    const lags = new Map<string, number>();
    for (const { key, published, publishedAt, told } of this.#streams.values()) {
      if (now - publishedAt > IDLE_MS && !this.#waiting.has(key)) continue;
      for (const [gateway, { served }] of told) {
        lags.set(gateway, Math.max(lags.get(gateway) ?? 0, published - served));
      }
    }
    return lags;
  }

  /** Resolves all that wait. */
  close(): void {
    for (const key of [...this.#waiting.keys()]) this.#end(key);
    this.#streams.clear();
    this.#partitions.clear();
  }

  #onTurn(): void {
    const now = performance.now();
    for (const key of [...this.#waiting.keys()]) this.#release(key, now);
    for (const [key, waiting] of [...this.#waiting].slice(0, MAX_QUESTIONS)) {
      this.#options.ask(waiting.topic, waiting.partition);
      if (this.#waiting.delete(key)) this.#waiting.set(key, waiting);
    }
  }

  #release(key: string, now: number): void {
    const waiting = this.#waiting.get(key);
    if (waiting && this.room(waiting.topic, waiting.partition, now).bytes > 0) this.#end(key);
  }

  #end(key: string): void {
    for (const end of [...(this.#waiting.get(key)?.ends ?? [])]) end();
  }

  /** @param least where there is any of a whole window */
  #roomOf(stream: Stream, now: number, least = 0): Room {
    if (stream.told.size === 0) return this.#firstRoom(stream, now);
    let room = UNLIMITED;
    for (const [gateway, told] of stream.told) {
      let bytes = Math.max(0, told.credit - stream.published);
      if (bytes > 0) {
        // Nobody's messages use no credit, nor do those on another server: little room would make small chunks of them for ever.
        bytes = Math.max(bytes, stream.unreceived);
        // A smaller window is that of a gateway whose executions or sockets are near their bound.
        if (told.credit - told.served >= least) bytes = Math.max(bytes, least);
        told.stuckSince = undefined;
        told.isLeftBehind = false;
      } else if (this.#isLeftBehind(gateway, told, now)) {
        if (this.#isGone(gateway, now)) this.#forget(stream, gateway);
        continue;
      }
      if (bytes < room.bytes) room = { bytes, gateway };
    }
    return room;
  }

  #firstRoom(stream: Stream, now: number): Room {
    const bytes = FIRST_BYTES - stream.published;
    if (stream.isFree || stream.unreceived > 0) return UNLIMITED;
    if (bytes > 0) return { bytes, gateway: undefined };
    stream.unansweredSince ??= now;
    stream.isFree = now - stream.unansweredSince >= FIRST_PATIENCE * this.#patienceMs;
    return stream.isFree ? UNLIMITED : { bytes: 0, gateway: undefined };
  }

  #isLeftBehind(gateway: string, told: Told, now: number): boolean {
    if (told.isLeftBehind || this.#silent.has(gateway)) return (told.isLeftBehind = true);
    told.stuckSince ??= now;
    if (now - told.stuckSince < this.#patienceMs) return false;
    if ((this.#heardAt.get(gateway) ?? 0) <= told.stuckSince) this.#silent.add(gateway);
    return (told.isLeftBehind = true);
  }

  #isGone(gateway: string, now: number): boolean {
    const isGone = now - (this.#heardAt.get(gateway) ?? 0) > GONE_AFTER * this.#patienceMs;
    if (isGone) {
      this.#heardAt.delete(gateway);
      this.#silent.delete(gateway);
    }
    return isGone;
  }

  /** Where it was the last one, nothing limits the stream until a gateway answers. */
  #forget(stream: Stream, gateway: string): void {
    stream.told.delete(gateway);
    stream.isFree = true;
  }

  #stopTimer(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

function keyOf(topic: string, partition: number): string {
  return `${partition}/${topic}`;
}
