import { randomUUID } from 'node:crypto';

/**
 * The reading of a partition from its beginning by a worker that keeps states. The states of the partition's channels are complete at its
 * end, and stay so for as long as every worker of the partition keeps them.
 */
export interface StateFill {
  /** Names what states are kept of. A worker that keeps others reads the partition again. */
  readonly signature: string;
  /** Offset after the last record that the fill must read; undefined: it has read them all. */
  readonly end: number | undefined;
}

/** What a bus knows of the states of a topic. */
export interface TopicFills {
  /** Partitions of the topic; 0: no worker has told. */
  readonly partitions: number;
  /** The topic's epoch in each place (`History.epoch`). One that has lost its data since begins another epoch. */
  readonly epochs: ReadonlySet<number>;
  /**
   * By partition. Absent: no fill has begun, the bus has lost it, or records of the partition were published later by a worker that keeps no
   * states.
   */
  readonly fills: ReadonlyMap<number, StateFill>;
}

export interface StateFills {
  /** Names of what the channels are spread over by hash: hash tags. */
  readonly places: readonly string[];
  /**
   * @param partitions of the topic, from a caller that knows it
   * @throws BusUnavailableError
   */
  read(topic: string, partitions?: number): Promise<TopicFills>;
  /**
   * The fill of a partition that this process has leased has read its last record.
   * @throws BusUnavailableError, FencedError: another worker may have begun the same fill
   */
  end(topic: string, partition: number, signature: string): Promise<void>;
}

const FILL_START = /^fill\.([0-9a-z]+)\.(\d+)\./;

/** A start id of records that begin a fill: `PartitionLease.startId`. */
export function fillStartId(signature: string, end: number): string {
  return `fill.${signature}.${end}.${randomUUID()}`;
}

/** The fill that a start id begins; undefined: it begins none. */
export function fillOfStart(startId: string | undefined): { signature: string; end: number } | undefined {
  const [, signature, end] = FILL_START.exec(startId ?? '') ?? [];
  return signature === undefined || end === undefined ? undefined : { signature, end: Number(end) };
}

/** True if each partition has a fill of this signature that has ended. */
export function isComplete({ partitions, fills }: TopicFills, signature: string): boolean {
  if (partitions === 0) return false;
  for (let partition = 0; partition < partitions; partition++) {
    const fill = fills.get(partition);
    if (fill?.signature !== signature || fill.end !== undefined) return false;
  }
  return true;
}
