import { HISTORY_DEFAULTS } from '../../bus/history.ts';
import { OPERATORS } from '../filter/filter-rule.ts';
import { RECORD_ENVELOPES } from './record-envelope.ts';
import { RECORD_FORMATS } from './record-format.ts';

/** The definition of @kafka, which crier adds to every graph's schema. */
export const KAFKA_DIRECTIVE = /* GraphQL */ `
  "Feeds a Subscription field from a Kafka topic."
  directive @kafka(
    "A topic, such as orders. With an argument of an enum type in braces, such as orders-{region}, one topic for each of its values."
    topic: String
    "Several topics; instead of topic."
    topics: [String!]
    "How producers encode the topic's records. Left out, each record says it."
    format: KafkaFormat
    "A subject of the registry: its newest schema decodes records that name none, which are then Avro or Protobuf without a header. Needs format."
    subject: String
    "How the topic's records carry rows. Paths, payload, filters and state are then those of the row. Left out, the record is the payload."
    envelope: KafkaEnvelope
    "What is known of rows before a change, of databases that may log only their keys (PostgreSQL)."
    before: KafkaBefore = BY_CONNECTOR
    "What rows are that were read from a table, and did not change now."
    snapshots: KafkaSnapshots = EVENTS
    "SNAKE, or what the @crier of the schema says."
    keys: KafkaKeys
    match: [KafkaMatch!]
    "Claims that must equal a value of the payload, and arguments that are compared with one."
    where: [KafkaWhere!]
    "Arguments that are meant to choose no events."
    unused: [String!]
    payload: String
    shared: Boolean = true
    history: KafkaHistory
    replay: KafkaReplay
    "Keeps the last payload of each channel: a subscription begins with it."
    state: KafkaState
    "What a record without a value does to the subscriptions that it concerns."
    tombstone: KafkaTombstone = SKIP
    "At most one event for each key of the records and interval: the newest. The state of a channel that each subscription names is one key."
    pace: KafkaPace
    "What happens to a client that does not read its events in time."
    slow: KafkaSlow = CLOSE
    "What resolvers read of the record beside its payload, in context.record."
    record: KafkaRecord
  ) on FIELD_DEFINITION

  "How the keys of a topic's records become field names."
  enum KafkaKeys {
    "In snake_case: orderId becomes order_id."
    SNAKE
    "As they are."
    KEEP
  }

  "An argument, and what it must equal: one of path, key and header."
  input KafkaMatch {
    arg: String!
    "Path of a value in the payload."
    path: String
    "The record's key."
    key: KafkaKeyPath
    "Name of a header of the record, whose value is taken as text."
    header: String
  }

  "true: the whole key, as text. A text such as id: the path of a value in a key that is a struct, in JSON or with a schema."
  scalar KafkaKeyPath

  "A claim or an argument, and the value of the payload that it is compared with."
  input KafkaWhere {
    claim: String
    arg: String
    path: String!
    "For an argument."
    op: KafkaOperator
  }

  enum KafkaOperator {
    ${OPERATORS.join('\n    ')}
  }

  "Records of all but JSON, and of those of formats.ts, name a schema of the registry: before the record, or in a header. With subject they need not."
  enum KafkaFormat {
    ${RECORD_FORMATS.join('\n    ')}
  }

  "Those of envelopes.ts are functions of the graph."
  enum KafkaEnvelope {
    ${Object.entries(RECORD_ENVELOPES)
      .map(([name, what]) => `${JSON.stringify(what)}\n    ${name}`)
      .join('\n    ')}
  }

  enum KafkaBefore {
    "They are whole if a connector has written them that always has whole rows."
    BY_CONNECTOR
    "They are whole: the tables have REPLICA IDENTITY FULL."
    WHOLE
  }

  enum KafkaSnapshots {
    "Like those that changed."
    EVENTS
    "They become the state, and are no events."
    STATE
  }

  "What each channel of the field keeps; whichever bound is reached first drops the oldest."
  input KafkaHistory {
    entries: Int = ${HISTORY_DEFAULTS.entries}
    bytes: Int = ${HISTORY_DEFAULTS.bytes}
    seconds: Int = ${HISTORY_DEFAULTS.seconds}
  }

  input KafkaState {
    "Seconds after which it is forgotten; left out, only a tombstone removes it."
    seconds: Int
  }

  input KafkaPace {
    "The interval, 10 to 60000."
    ms: Int!
    "Which event of an interval is delivered."
    keep: KafkaKeep = LATEST
    "An argument of type Int, with which a subscription chooses a longer interval."
    arg: String
  }

  enum KafkaKeep {
    LATEST
  }

  enum KafkaSlow {
    "It is closed with 1013."
    CLOSE
    "It receives fewer events: the newest of each key."
    LATEST
  }

  input KafkaRecord {
    key: Boolean = false
    "Names."
    headers: [String!]
  }

  enum KafkaReplay {
    LAST
  }

  enum KafkaTombstone {
    "Nothing."
    SKIP
    "The field is null."
    NULL
    "The subscription completes."
    COMPLETE
    "The row as it was; only with an envelope."
    ROW
  }
`;
