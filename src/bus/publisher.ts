import type { ChannelMessage } from './bus-message.ts';

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
   * known to have been accepted; where the bus has several places, for as long as the records continue. A start id that the bus does not know
   * begins an epoch. undefined: the records continue.
   */
  readonly startId?: string | undefined;
  /** Of the states that the worker keeps of the partition's channels; undefined: it keeps none. */
  readonly signature?: string | undefined;
  /** What `Skips.positions` returned when `position` was committed; undefined: nothing. */
  readonly positions?: string | undefined;
  /** True: the next records follow those that this process has published, so what it has skipped before stays skipped. */
  readonly keepsSkips?: boolean | undefined;
}

/**
 * What a bus of several places skips of a leased partition while one of them is away: the messages of its channels. The others flow. A
 * worker reads the skipped records again once the place is back; where they were accepted, they are left out.
 */
export interface Skips {
  /** Offset of the first record with a message that was skipped; undefined: none was. */
  from(): number | undefined;
  /** True if the places of all skipped messages accept messages again. */
  canRetake(): boolean;
  /** Up to where each place has accepted the partition's records, as a text for the lease of its next owner. */
  positions(): string;
}

/** What a worker needs of the bus for the records of its partitions. */
export interface Publisher {
  /**
   * Takes over the publishing of a partition: publishes of the previous holder are refused from now on. Increments the topic's epoch
   * when the start id is unknown and messages were accepted before it, or when the bus lost what it had accepted.
   * @returns undefined: the bus has one place, and skips no message
   * @throws BusUnavailableError; whether the lease was acquired is unknown then: repeat the call.
   * @throws StateLostError if the states of the partition's channels must be filled, with a start id of `fillStartId`
   */
  acquire(lease: PartitionLease): Promise<Skips | undefined>;
  /**
   * Publishes, in order per channel. Resolves once every message was accepted; at-most-once towards subscribers, and nothing is queued
   * for later.
   *
   * The messages come from one partition, in its order, and complete it up to the offset of `upTo`. Messages at or below the offset that
   * was accepted before are left out, so a repeated publish reaches no subscriber twice.
   * @throws BusUnavailableError when any message was neither accepted nor skipped (`Skips`); some may have been, so a retry repeats the whole.
   * @throws FencedError when this process does not hold the partition's lease: it never acquired it, another worker did since, or the bus
   * lost its data. Acquire the lease (again) first.
   */
  publish(messages: readonly ChannelMessage[], upTo: Position): Promise<void>;
}
