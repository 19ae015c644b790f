import { setMaxListeners } from 'node:events';
import { Contacts } from './contacts.ts';
import type { Credit, Mark } from './mark.ts';
import { GATEWAYS_MISSING, UNLIMITED } from './room.ts';
import type { Room } from './room.ts';

export interface SenderOptions {
  /** After this long without progress, in ms, a gateway no longer limits the worker. undefined: flow control is off. */
  readonly patienceMs: number | undefined;
  /** Requests credit from the gateways of a partition: publishes a mark. Must not throw. */
  readonly ask: (topic: string, partition: number) => void;
  /** Finds out whether a gateway is subscribed, and calls `onSought`. Must not throw. Default: none can be sought. */
  readonly seek?: (gateway: string) => void;
  /** False while gateways that were subscribed before an outage are not subscribed again. Default: always true. */
  readonly areGatewaysBack?: (now: number) => boolean;
}

/** Bytes that may be published before a gateway has given credit: the window of a slow gateway. */
const INITIAL_WINDOW = 65_536;
/**
 * Least room, in bytes, of a window of at least this size that has any room. With less, the records of a burst reach the gateways one by
 * one, and each costs a write per socket: with 16 events in flight, a delivery took 1.3 times the CPU.
 */
const MIN_ROOM = 65_536;
/**
 * If no gateway gives credit within this fraction of the patience, all subscribers of the stream are taken to be without flow control.
 * Credit arrives after the messages of the previous lease that are still in flight, about FLOW_TARGET_MS later.
 */
const INITIAL_PATIENCE = 0.2;
/** Interval between two requests for credit while a partition waits, in ms. */
const ASK_INTERVAL_MS = 10;
/** Partitions for which credit is requested at a time. If more partitions wait, they take turns. */
const MAX_QUESTIONS = 10;
/** In ms. A stream that has published nothing for this long counts as served, even without a credit that confirms it. */
const IDLE_MS = 10_000;
/**
 * A mark is due after MARK_BYTES and MARK_INTERVAL_MS, or after MAX_UNMARKED_BYTES. With one gateway, marks cost Redis less than 1 % of what
 * the messages cost. A mark goes to every gateway, a message only to those with its channel: docs/operate/capacity.md has the cost in a large fleet.
 * A stream that has published less since it began is not limited.
 */
const MARK_BYTES = 16_384;
const MARK_INTERVAL_MS = 50;
const MAX_UNMARKED_BYTES = 262_144;
/** The patience with a gateway that is no longer subscribed, in ms, while others are. Alone it may be about to subscribe again. */
const ABSENT_PATIENCE_MS = 250;

/** A gateway's progress on a stream, as its credits report it. */
interface GatewayState {
  served: number;
  /** Highest `served`. It shows progress. The credit does not: it rises and falls with the gateway's load. */
  mostServed: number;
  credit: number;
  /** Since when it has given no room and served nothing, in ms of performance.now(); undefined: there is room. */
  stalledSince: number | undefined;
  /** It made no progress for the length of the patience, and has given no room since. */
  isLeftBehind: boolean;
}

/** One lease of a partition. */
interface Stream {
  readonly name: string;
  /** Key of its partition. */
  readonly key: string;
  published: number;
  /** When `published` grew last, of performance.now(). */
  publishedAt: number;
  /** `published` at the last mark, and the time of that mark, of performance.now(). */
  marked: number;
  markedAt: number;
  readonly gateways: Map<string, GatewayState>;
  /** Least room, in bytes, after chunks that no subscriber received. Each such chunk doubles it. 0: the last chunk was received. */
  minRoom: number;
  /** The stream is unlimited until a gateway gives credit: none did for the initial window, or the last gateway has drained. */
  isUnlimited: boolean;
  /** Since when the initial window is used up without credit, of performance.now(). */
  unansweredSince: number | undefined;
}

/** The calls of `whenRoom` for one partition. */
interface Waiting {
  readonly topic: string;
  readonly partition: number;
  readonly ends: Set<() => void>;
}

/**
 * The worker's half of flow control: limits its publishes to the credit of the slowest gateway that makes progress. Pure apart from the
 * clock and a timer. Holds an entry for each leased partition, with one for each gateway.
 */
export class Sender {
  readonly #options: SenderOptions;
  readonly #patienceMs: number;
  /** The streams of the current leases, by partition. */
  readonly #partitions = new Map<string, Stream>();
  /** The same streams, by name. */
  readonly #streams = new Map<string, Stream>();
  readonly #contacts: Contacts;
  /** By partition. */
  readonly #waiting = new Map<string, Waiting>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#patienceMs = options.patienceMs ?? Infinity;
    this.#contacts = new Contacts(this.#patienceMs, (gateway) => options.seek?.(gateway));
  }

  /** False if flow control is off. */
  get isEnabled(): boolean {
    return this.#options.patienceMs !== undefined;
  }

  /** Begins the stream of a lease and removes the previous lease's. */
  open(topic: string, partition: number, name: string): void {
    if (!this.isEnabled) return;
    const key = keyOf(topic, partition);
    this.#streams.delete(this.#partitions.get(key)?.name ?? '');
    const counts = { published: 0, publishedAt: -Infinity, marked: 0, markedAt: -Infinity };
    const state = { minRoom: 0, isUnlimited: false, unansweredSince: undefined };
    const stream: Stream = { name, key, ...counts, gateways: new Map(), ...state };
    this.#partitions.set(key, stream);
    this.#streams.set(name, stream);
  }

  /** Bytes published since the stream began; 0 for an unknown stream. */
  published(name: string): number {
    return this.#streams.get(name)?.published ?? 0;
  }

  /**
   * The mark to publish with the next messages. It requests credit if they use all of the room.
   * @param bytes of the next messages, if each has a subscriber
   * @returns the mark, whose `bytes` were published before the messages; undefined: no mark is due
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

  /** Counts bytes that at least one subscriber received. */
  add(name: string, bytes: number, now = performance.now()): void {
    const stream = this.#streams.get(name);
    if (!stream) return;
    stream.published += bytes;
    if (bytes > 0) stream.publishedAt = now;
    stream.minRoom = bytes > 0 ? 0 : Math.max(INITIAL_WINDOW, 2 * stream.minRoom);
  }

  onCredit({ stream: name, gateway, served, bytes }: Credit, now = performance.now()): void {
    this.#contacts.onCredit(gateway, now);
    const stream = this.#streams.get(name);
    if (!stream) return;
    if (bytes === undefined) {
      this.#forget(stream, gateway);
    } else {
      const state = stream.gateways.get(gateway);
      const progress = { stalledSince: undefined, isLeftBehind: false };
      if (!state) stream.gateways.set(gateway, { served, mostServed: served, credit: bytes, ...progress });
      else {
        if (served > state.mostServed) Object.assign(state, { mostServed: served, stalledSince: undefined });
        Object.assign(state, { served, credit: bytes });
      }
    }
    this.#release(stream.key, now);
  }

  /** A search for a gateway has ended. */
  onSought(gateway: string, isSubscribed: boolean): void {
    this.#contacts.onSought(gateway, isSubscribed);
  }

  room(topic: string, partition: number, now = performance.now()): Room {
    const stream = this.#partitions.get(keyOf(topic, partition));
    if (!stream) return UNLIMITED;
    const { areGatewaysBack } = this.#options;
    return !areGatewaysBack || areGatewaysBack(now) ? this.#roomOf(stream, now, MIN_ROOM) : GATEWAYS_MISSING;
  }

  /** Resolves when the partition has room, or the signal is aborted. Never rejects. */
  whenRoom(topic: string, partition: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.room(topic, partition).bytes > 0) return Promise.resolve();
    this.#options.ask(topic, partition);
    // A bus in this process gives credit synchronously.
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
      // All partitions of a worker share one signal. Its many listeners are no leak: switch off the warning of Node.js.
      setMaxListeners(0, signal);
      signal.addEventListener('abort', end);
    });
  }

  /** Lag of each gateway: the bytes that were published and not served there, of the partition with most of them. */
  lags(now = performance.now()): Map<string, number> {
    const lags = new Map<string, number>();
    for (const { key, published, publishedAt, gateways } of this.#streams.values()) {
      if (now - publishedAt > IDLE_MS && !this.#waiting.has(key)) continue;
      for (const [gateway, { served }] of gateways) {
        lags.set(gateway, Math.max(lags.get(gateway) ?? 0, published - served));
      }
    }
    return lags;
  }

  /** Resolves every `whenRoom`. */
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

  /** @param least room, in bytes, of a window of at least that size that has any */
  #roomOf(stream: Stream, now: number, least = 0): Room {
    if (stream.gateways.size === 0) return this.#initialRoom(stream, now);
    let room = UNLIMITED;
    for (const [gateway, state] of stream.gateways) {
      let bytes = Math.max(0, state.credit - stream.published);
      if (bytes > 0) {
        // Messages without a subscriber use no credit. With little room their chunks would stay small.
        bytes = Math.max(bytes, stream.minRoom);
        // A smaller window means that the gateway's executions or sockets are near their limit.
        if (state.credit - state.served >= least) bytes = Math.max(bytes, least);
        state.stalledSince = undefined;
        state.isLeftBehind = false;
      } else if (this.#isLeftBehind(stream, gateway, now)) {
        if (this.#contacts.isGone(gateway, now)) this.#forget(stream, gateway);
        continue;
      }
      if (bytes < room.bytes) room = { bytes, gateway };
    }
    return room;
  }

  #initialRoom(stream: Stream, now: number): Room {
    const bytes = INITIAL_WINDOW - stream.published;
    if (stream.isUnlimited || stream.minRoom > 0) return UNLIMITED;
    if (bytes > 0) return { bytes, gateway: undefined };
    stream.unansweredSince ??= now;
    stream.isUnlimited = now - stream.unansweredSince >= INITIAL_PATIENCE * this.#patienceMs;
    return stream.isUnlimited ? UNLIMITED : { bytes: 0, gateway: undefined };
  }

  #isLeftBehind(stream: Stream, gateway: string, now: number): boolean {
    const contact = this.#contacts.of(gateway);
    const state = stream.gateways.get(gateway)!;
    if (state.isLeftBehind || contact.isSilent) return (state.isLeftBehind = true);
    state.stalledSince ??= now;
    this.#contacts.seek(gateway, now);
    const patienceMs = this.#holdsUpOthers(stream, gateway) ? ABSENT_PATIENCE_MS : Infinity;
    if (now - state.stalledSince < Math.min(patienceMs, this.#patienceMs)) return false;
    contact.isSilent = contact.creditAt <= state.stalledSince;
    return (state.isLeftBehind = true);
  }

  /** True if the gateway is absent and holds up others. */
  #holdsUpOthers({ gateways }: Stream, gateway: string): boolean {
    const isAbsent = (name: string) => this.#contacts.of(name).isAbsent;
    return isAbsent(gateway) && [...gateways.keys()].some((other) => !isAbsent(other));
  }

  /** Removes a gateway. A stream without gateways is unlimited until one gives credit. */
  #forget(stream: Stream, gateway: string): void {
    stream.gateways.delete(gateway);
    stream.isUnlimited = true;
  }

  #stopTimer(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

function keyOf(topic: string, partition: number): string {
  return `${partition}/${topic}`;
}
