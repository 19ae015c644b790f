import { parseTraceContext, printTraceParent } from '../../base/trace-context.ts';
import type { ConnectionFacts } from './connection-facts.ts';

/** A record that a mutation publishes. */
export interface NewRecord {
  /** Absent or null: Kafka's client chooses a partition. */
  readonly key?: string | null | undefined;
  /** An object is written as JSON; null is a tombstone. */
  readonly value: object | null;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A record that all replicas have. */
export interface PublishedRecord {
  readonly topic: string;
  readonly partition: number;
  /** A 64-bit number in decimal. */
  readonly offset: string;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly key: string | null;
}

/**
 * Publishes a record to a Kafka topic, and resolves when all replicas have it.
 * @throws GraphQLError with code KAFKA_UNAVAILABLE (not written), KAFKA_UNCONFIRMED (perhaps written) or KAFKA_REFUSED
 */
export type Publish = (topic: string, record: NewRecord) => Promise<PublishedRecord>;

/** The W3C trace context of the request, as headers of a record. A malformed one is not passed on. */
export function traceHeaders({ headers }: Pick<ConnectionFacts, 'headers'>): Record<string, string> {
  const { traceparent, tracestate } = headers as Readonly<Record<string, unknown>>;
  if (typeof traceparent !== 'string') return {};
  const context = parseTraceContext(traceparent, typeof tracestate === 'string' ? tracestate : undefined);
  if (!context) return {};
  const parent = { traceparent: printTraceParent(context) };
  return context.state === undefined ? parent : { ...parent, tracestate: context.state };
}
