import { GraphQLError, buildSchema, specifiedRules } from 'graphql';
import type { GraphQLSchema, ValidationRule } from 'graphql';

const SDL = `
"Reads of this pod."
type Query {
  "Name of the pod: POD_NAME, or its host name."
  pod: String!
  "Figures of the last three minutes, the oldest first, each since the one before. They have no operations."
  crier_stats_history: [CrierStats!]!
  "An operation that crier_stats names, looked up for this answer; null: the pod does not know it."
  crier_operation("OperationStats.document" document: String!, "OperationStats.operation" operation: String!): CrierOperation
}

"What this pod does."
type Subscription {
  "The figures of this pod, at once and then once a second."
  crier_stats: CrierStats!
}

"""
Figures of one pod. Those that its role does not have are null; rates are null until there are two readings.
"""
type CrierStats {
  "Name of the pod: POD_NAME, or its host name."
  pod: String!
  "ROLE."
  role: String!
  "Of crier."
  version: String!
  "Name of the graph."
  graph: String!
  "starting, ready, overloaded or draining, as /readyz says."
  status: String!
  "Why it is overloaded, and what is wrong around it."
  problems: [String!]!
  "When the figures were read, ISO 8601, in UTC."
  at: String!
  "Seconds since the process started."
  uptime_seconds: Int!
  "Seconds since the figures before, which the rates are of."
  seconds: Float
  "Records read from Kafka or the samples, each second."
  records_per_second: Float
  "Messages received from channels, each second."
  events_per_second: Float
  "Messages that the kernel has accepted for clients, each second."
  deliveries_per_second: Float
  "Executions of events, each second."
  executions_per_second: Float
  "Share of the results that needed no execution of their own, from 0 to 1; null without results."
  sharing_ratio: Float
  "Median of the time from the timestamp of a record in Kafka to its deliveries; null without deliveries."
  latency_p50_ms: Float
  "99 % of the deliveries took at most as long; null without deliveries."
  latency_p99_ms: Float
  "Records between this worker's positions and the ends of its partitions; null: unknown, as while Kafka is away."
  kafka_lag_records: Float
  "WebSockets and streams that are open."
  sockets: Int
  "Operations that are live."
  operations: Int
  "Connections closed because they did not read, since the start."
  slow_consumers: Int
  "Bytes that wait for slow sockets."
  queue_bytes: Float
  "Bytes of the largest of these queues."
  queue_bytes_max: Float
  "Handshakes and requests refused, each second."
  refusals_per_second: Float
  "Operations notified that events may be missing, each second."
  gaps_per_second: Float
  "Masked errors of clients, each second."
  errors_per_second: Float
  "Poison records, each second."
  poison_records_per_second: Float
  "Used heap, garbage included."
  heap_bytes: Float!
  "Size of the heap at which V8 ends the process."
  heap_limit_bytes: Float
  "Resident memory of the process."
  resident_bytes: Float!
  "Delay of the event loop."
  loop_lag_ms: Float!
  "Share of the time in which the event loop was not idle, from 0 to 1."
  loop_busy_ratio: Float
  "The operations that lead by executions, deliveries or subscriptions."
  top_operations: [OperationStats!]!
}

"One operation and its subscribers, without variables, claims and values of arguments."
type CrierOperation {
  "Its document as GraphQL, … in place of each number and text; null: it is not live, and its document has left the cache."
  text: String
  "Subscriptions that are live."
  subscriptions: Int!
  "Where these get their events from, most subscriptions first; a subscription to several channels counts in each."
  channels: [CrierChannels!]!
}

"The channels whose names differ only in values."
type CrierChannels {
  "Topic and paths of their names, as bids{bid.auction_id=…}; of a channel of Redis its first word."
  pattern: String!
  "Channels with subscriptions to this operation."
  channels: Int!
  "These subscriptions."
  subscriptions: Int!
  "Those of the channel that has most."
  largest: Int!
}

"What one operation costs."
type OperationStats {
  "First digits of the SHA-256 of its document."
  document: String!
  "Its name; empty without one."
  operation: String!
  "Its root field; empty for several."
  field: String!
  "Subscriptions that are live."
  subscriptions: Int!
  "Messages with its results, each second."
  deliveries_per_second: Float
  "Its executions, each second."
  executions_per_second: Float
  "Milliseconds of its executions in each second."
  execution_ms_per_second: Float
  "Executions with errors, each second."
  errors_per_second: Float
}
`;

/** Aliases would multiply what one request costs. */
const onceEach: ValidationRule = (context) => {
  const asked = new Set<string>();
  return {
    Field(node) {
      const { value } = node.name;
      if (context.getParentType() !== context.getSchema().getQueryType()) return;
      if (asked.has(value))
        context.reportError(
          new GraphQLError(`${value} is in this document twice: send a request for each`, { nodes: node }),
        );
      asked.add(value);
    },
  };
};

/** What a document must keep to: it has each field of a query once. */
export const STATS_RULES: readonly ValidationRule[] = [...specifiedRules, onceEach];

/** A schema of its own: that of a graph is not changed. */
export function buildStatsSchema(): GraphQLSchema {
  return buildSchema(SDL);
}
