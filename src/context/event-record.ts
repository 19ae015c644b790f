import { topicOf } from '../bus/channel.ts';
import type { Coordinates } from '../bus/coordinates.ts';

/** The Kafka record of the event that an execution is for. It is the same for all connections, so reading it is no fact of one. */
export interface EventRecord {
  readonly topic: string;
  readonly partition: number;
  /** Exact up to 2^53. */
  readonly offset: number;
  /** In ms since 1970; negative: the record has none. */
  readonly timestamp: number;
}

/** A frozen record of a message that a worker published, for all executions of its event. */
export function eventRecord(channel: string, prefix: string, coordinates: Coordinates): EventRecord {
  const { partition, offset, timestamp } = coordinates;
  return Object.freeze({ topic: topicOf(channel, prefix), partition, offset, timestamp });
}
