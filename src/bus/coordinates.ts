import type { TraceContext } from '../base/trace-context.ts';
import type { EntryId } from './entry-id.ts';

/** The origin and the order of a message. Of two messages of one channel and partition, the one with the higher pair (epoch, offset) is newer. */
export interface Coordinates {
  readonly partition: number;
  /** Of the Kafka record; exact up to 2^53. */
  readonly offset: number;
  /** Of the Kafka record, in ms since 1970. */
  readonly timestamp: number;
  /** Of the topic. Grows when earlier messages may be missing: the topic was recreated, or Redis lost its data. */
  readonly epoch: number;
  /** Of its entry in the channel's history; undefined if the channel has no history. */
  readonly entry?: EntryId | undefined;
  /** Of the entry before it; undefined: there was none. */
  readonly previous?: EntryId | undefined;
  /** The span of the worker that published the message. Absent unless the record is sampled. */
  readonly trace?: TraceContext;
  /** What the message carries of its record's key and headers (`carried-parts.ts`). Absent unless the graph declares it. */
  readonly record?: string;
}
