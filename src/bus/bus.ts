import type { Claim, ClaimRequest } from './claim.ts';
import type { Control } from './control.ts';
import type { Coordinates } from './coordinates.ts';
import type { Receiver } from './flow/receiver.ts';
import type { Sender } from './flow/sender.ts';
import type { Skips } from './skips.ts';
import type { StateFills } from './state-fill.ts';
import type { TraceContext } from '../base/trace-context.ts';
import type { History, HistoryQuery, Retention } from './history.ts';

/**
 * The seam between the two halves of crier: the worker publishes, the gateway subscribes. Two implementations (redis,
 * memory) keep the one contract of `test/bus/contract.ts`.
 */
export interface Message {
  /** Or `STATES_OF_KEY`. */
  readonly channel: string;
  /** JSON text, never empty. The bus passes it through and never parses it. */
  readonly payload: string;
  /** Of its Kafka record. */
  readonly offset: number;
  /** Of its Kafka record, in ms since 1970. */
  readonly timestamp: number;
  /** What the channel keeps; undefined: nothing. */
  readonly history?: Retention | undefined;
  /** The span that its subscribers continue; undefined: the record is not sampled. The history does not keep it. */
  readonly trace?: TraceContext | undefined;
  /** What it carries of its record's key and headers (`carried-parts.ts`); undefined: nothing. History and state keep it. */
  readonly record?: string | undefined;
  /**
   * Of its record's key (22 characters of base64url); undefined: the record has none, or its key names the channel. If the state of another
   * channel, in the index that `history.keyIndex` names, is of the same `keyHash`, the record has left it: that channel gets a tombstone.
   */
  readonly keyHash?: string | undefined;
  /**
   * True: a tombstone for channels that its record is not in. One that the record's key names receives it only if its state is of a key that
   * names it.
   */
  readonly isDeparture?: boolean | undefined;
}

/** The payload of a record without a value. No other record has it, because payloads are objects. */
export const TOMBSTONE = 'null';

/**
 * Instead of a channel: the message is a tombstone for the channel whose state is of its `keyHash`, in the index that `history.keyIndex` names.
 * A tombstone that names such a channel is left out if the channel's state is of a `keyHash`.
 */
export const STATES_OF_KEY = '*';

/** A position in a Kafka partition. Offsets are exact up to 2^53. */
export interface Position {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** A worker's lease of a partition that Kafka has assigned to it. It acquires the lease before it publishes for the partition. */
export interface PartitionLease {
  readonly topic: string;
  readonly partition: number;
  /** Offset up to which everything was accepted before, as far as is known; -1: nothing is known. */
  readonly position: number;
  /**
   * Set where the records do not continue the earlier ones (a new group, a recreated topic, reset offsets) and none of them is
   * known to have been accepted; where the bus has `skips`, for as long as the records continue. A start id that the bus does not know
   * begins an epoch. undefined: the records continue.
   */
  readonly startId?: string | undefined;
  /** Of the states that the worker keeps of the partition's channels; undefined: it keeps none. */
  readonly signature?: string | undefined;
  /** What `Skips.positionsOf` returned when `position` was committed; undefined: nothing. */
  readonly positions?: string | undefined;
  /** True: the next records follow those that this process has published, so what it has skipped before stays skipped. */
  readonly keepsSkips?: boolean | undefined;
}

/**
 * `payload`: the bytes that were published; JSON in UTF-8 unless another program published on the channel. All listeners receive the same
 * bytes and must not change them. They are usually a slice of a 64 KiB read: a listener that keeps a payload for long copies it.
 *
 * `coordinates`: of a message that was published through a bus; undefined for one of another program.
 */
export type Listener = (payload: Buffer, coordinates?: Coordinates) => void;

/** Idempotent and never throwing; after it returned the listener is not called again. */
export type Unsubscribe = () => void;

export interface Bus {
  /**
   * Connects. Resolves after the first attempt, also a failed one: the bus keeps connecting in the background (`isAvailable`).
   * @throws BusUnavailableError when the bus is closed.
   */
  start(): Promise<void>;
  /** True while every server behind the bus answers. */
  readonly isAvailable: boolean;
  /** `host:port` of each server that does not answer. */
  readonly awayServers: readonly string[];
  /**
   * Publishes, in order per channel. Resolves once every message was accepted; at-most-once towards subscribers, and nothing is queued
   * for later.
   *
   * The messages come from one partition, in its order, and complete it up to the offset of `upTo`. Messages at or below the offset that
   * was accepted before are left out, so a repeated publish reaches no subscriber twice.
   * @throws BusUnavailableError when any message was neither accepted nor skipped (`skips`); some may have been, so a retry repeats the whole.
   * @throws FencedError when this process does not hold the partition's lease: it never acquired it, another worker did since, or the bus
   * lost its data. Acquire the lease (again) first.
   */
  publish(messages: readonly Message[], upTo: Position): Promise<void>;
  /** How far this process may publish ahead of its gateways; without a limit where flow control is off. */
  readonly sender: Sender;
  /**
   * Takes part in flow control as a gateway. The returned function ends that, and no worker waits for this process from then on; it is
   * idempotent.
   */
  receive(receiver: Receiver): () => void;
  /**
   * Takes over the publishing of a partition: publishes of the previous holder are refused from now on. Increments the topic's epoch
   * when the start id is unknown and messages were accepted before it, or when the bus lost what it had accepted.
   * @throws BusUnavailableError; whether the lease was acquired is unknown then: repeat the call.
   * @throws StateLostError if the states of the partition's channels must be filled, with a start id of `fillStartId`
   */
  acquire(lease: PartitionLease): Promise<void>;
  /**
   * Resolves once the subscription is acknowledged. Every message accepted after the acknowledgement reaches the listener, in order,
   * the first ones perhaps before this resolves; no message reaches a listener whose subscription is not acknowledged. One
   * subscription per channel however many listeners; listeners are counted, and one that throws is logged without harm to the others.
   *
   * A channel without the prefix of the bus is a plain one, on which any program may publish. Its messages have no coordinates, whatever
   * they begin with.
   * @param onGap called when the channel was without a subscription for a while and has one again: messages may have been missed
   * @throws BusUnavailableError when the server refuses the channel, stays away too long or the bus is closed.
   */
  subscribe(channel: string, listener: Listener, onGap?: () => void): Promise<Unsubscribe>;
  /**
   * Sends a text on a plain channel; at most once. Resolves once the server has accepted it.
   * @throws BusUnavailableError
   */
  send(channel: string, text: string): Promise<void>;
  /**
   * Reads the history of a channel. It may hold messages that are still on their way to listeners.
   * @throws BusUnavailableError
   */
  history(channel: string, query: HistoryQuery): Promise<History>;
  /**
   * Returns a value on which all processes of the bus agree: the first proposal, for as long as the bus keeps it.
   * @throws BusUnavailableError
   */
  agree(name: string, proposal: string): Promise<string>;
  /** undefined: the bus has one place, and skips no message. */
  readonly skips: Skips | undefined;
  /**
   * Claims a name for a holder, or keeps its claim, and returns the claim that is valid now: of this holder, or of another one.
   * @throws BusUnavailableError
   */
  claim(name: string, request: ClaimRequest): Promise<Claim>;
  /**
   * The claim of a name; undefined: there is none.
   * @throws BusUnavailableError
   */
  claimOf(name: string): Promise<Claim | undefined>;
  /** Which partitions have been read from their beginning, so that the states of their channels are complete. */
  readonly stateFills: StateFills;
  /** Messages between the processes that are no events. */
  readonly control: Control;
  /** Idempotent and bounded in time; later calls return the same promise. */
  close(): Promise<void>;
}

/** Receives what a bus does, for metrics. Called synchronously; must not throw. */
export interface BusObserver {
  /** Messages of one `publish` that were all accepted. */
  onPublish?(messages: number): void;
  /** Messages of one `publish` that was refused as a whole; 0: a lease was refused, without which nothing is published. `reason`: publish-failure.ts lists them. */
  onPublishFailure?(messages: number, reason: string): void;
  /** Channels subscribed now, after each change. */
  onSubscriptions?(channels: number): void;
  /** These channels were without a subscription for a while and have one again: messages may have been missed. */
  onGap?(channels: readonly string[]): void;
  /** A message that was published on a server came back from it, `ms` later. Measured every few seconds. */
  onRoundTrip?(server: string, ms: number): void;
  /** A lost link to a server is back. */
  onReconnect?(): void;
}
