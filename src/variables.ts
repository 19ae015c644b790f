import {
  bool,
  bytes,
  count,
  fraction,
  httpUrl,
  list,
  MS,
  ms,
  name,
  oneOf,
  optionalBool,
  optionalFraction,
  optionalMs,
  port,
  secret,
  text,
} from './variable.ts';
import type { Variable } from './variable.ts';

/** Every setting of crier, by the name of its environment variable. `npm run docs:configuration` writes docs/configuration.md from it. */
export const variables = {
  ROLE: oneOf(
    ['all', 'worker', 'gateway'],
    'all',
    '"all", "worker" or "gateway"',
    'Which half of the path this pod runs.',
  ),
  HOST: text('0.0.0.0', 'an address of this machine', 'Address that PORT listens on.'),
  PORT: port('4000', 'WebSocket and HTTP port; 0 takes a free one.'),
  ADMIN_HOST: text(
    '127.0.0.1',
    'an address of this machine',
    'Address that ADMIN_PORT listens on; the image sets 0.0.0.0.',
  ),
  ADMIN_PORT: port('4001', 'Port of `/healthz`, `/readyz` and `/metrics`.'),
  EMBEDDED: optionalBool(
    'Whether to run without Kafka and Redis; not set: if neither is named, but not with `NODE_ENV=production`.',
  ),
  GRAPH: text('', 'a folder with a schema.graphql', 'The graph folder; not set: the built-in auction graph.'),
  POD_NAME: text('', 'any text', "This pod's name in the log; not set: the host name."),
  LOG_LEVEL: oneOf(
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    'info',
    'trace, debug, info, warn, error, fatal or silent',
    'Least severe level that is logged.',
  ),
  PROFILE_ON_EXIT: secret(
    text(
      '',
      'a directory, or an http:// or https:// URL',
      'Where a CPU profile of the whole life of the pod goes when it ends: a directory, or a URL that takes it by PUT; not set: none is recorded.',
    ),
  ),
  TUNABLES_FILE: text(
    '',
    'the path of a JSON file',
    'Settings that may change while crier runs: a JSON object, read every 2 s; not set: none.',
  ),
  DRAIN_DELAY_MS: optionalMs(
    0,
    'After SIGTERM, how long the pod is unready and serves on, while load balancers notice; not set: 5000, and 0 embedded.',
  ),
  DRAIN_SPREAD_MS: optionalMs(
    0,
    'Time after that over which the open sockets are closed, evenly and in random order; not set: 20000, and 0 embedded.',
  ),
  SHUTDOWN_TIMEOUT_MS: optionalMs(
    100,
    'After SIGTERM, the longest time until exit; not set: DRAIN_DELAY_MS + DRAIN_SPREAD_MS + 15000.',
  ),

  KAFKA_BROKERS: list('', 'host:port, separated by commas', 'Kafka bootstrap servers; not set: `EMBEDDED`.'),
  KAFKA_GROUP_ID: name('crier', 'a consumer group id', 'Consumer group that all workers share.'),
  KAFKA_TLS: bool('false', 'Whether to connect to the brokers over TLS.'),
  KAFKA_SASL_MECHANISM: oneOf(
    ['', 'plain', 'scram-sha-256', 'scram-sha-512'],
    '',
    'plain, scram-sha-256 or scram-sha-512',
    'SASL mechanism; not set: none.',
  ),
  KAFKA_SASL_USERNAME: text('', 'a user name', 'SASL user name.'),
  KAFKA_SASL_PASSWORD: secret(text('', 'a password', 'SASL password.')),
  KAFKA_SESSION_TIMEOUT_MS: ms(
    6000,
    '10000',
    "Silence after which a worker's partitions go to another.",
    `${MS}, at least 6000 (what brokers allow)`,
  ),
  KAFKA_FROM_BEGINNING: bool('false', 'Whether a new group starts at the oldest record instead of now.'),
  KAFKA_DEAD_LETTER_TOPIC: name('crier-dead-letter', 'a topic name', 'Where records that cannot be decoded go.'),
  DEAD_LETTER: oneOf(
    ['WAIT', 'DROP'],
    'WAIT',
    'WAIT or DROP',
    'What happens while the dead-letter topic is unavailable: the partition waits, or records are dropped.',
  ),
  KAFKA_TOPIC_CHECK_INTERVAL_MS: ms(100, '10000', 'Interval between looks for missing topics.'),
  KAFKA_STALL_TIMEOUT_MS: ms(1000, '30000', 'Lag without progress after which the consumer is rebuilt.'),
  MAX_RECORD_BYTES: bytes(1, '1048576', 'Larger records are poison.'),
  MAX_RECORD_DEPTH: count(1, '64', 'levels', 'Records nested deeper are poison.', 1000),
  KEY_REWRITER: bool(
    'true',
    "Whether keys are renamed in a record's text; `false` parses every record, to find faults.",
  ),

  MAX_INFLATED_BATCH_BYTES: bytes(
    131_072,
    '67108864',
    'Largest inflated size of a compressed batch; a larger batch is poison.',
  ),
  MAX_INFLIGHT_BYTES: bytes(
    131_072,
    '67108864',
    'Decoded records of all brokers that are not processed yet; more are fetched later.',
  ),

  REDIS_URL: secret(
    list(
      '',
      'redis:// or rediss:// URLs, separated by commas',
      'Redis servers, channels spread by hash; not set: `EMBEDDED`.',
    ),
  ),
  CHANNEL_PREFIX: text('crier:', 'any text', "First part of every channel's name."),

  CURSOR_SECRET: secret(
    text(
      '',
      'any text',
      'Signs cursors, the same on every pod; not set: a random one that the pods share through Redis.',
    ),
  ),

  ALLOWED_ORIGINS: list(
    '',
    'origins such as https://app.example.com, or *',
    "Browser origins beside the server's own; `*` allows all.",
  ),
  INIT_TIMEOUT_MS: ms(1, '5000', 'Longest wait for `connection_init`.'),
  AUTHENTICATION_TIMEOUT_MS: ms(1, '5000', "Longest wait for the graph's `authenticate`."),
  PING_INTERVAL_MS: ms(
    0,
    '12000',
    'Interval between WebSocket pings; a silent peer is disconnected within two. 0: none.',
  ),
  MAX_CONNECTION_AGE_MS: ms(
    0,
    '0',
    'Age, ± 10 %, at which a connection is closed with 1001, so that its client reconnects to any pod. 0: never.',
  ),
  MAX_CONNECTIONS: count(0, '0', 'connections', 'Open WebSockets; further ones are closed with 1013. 0: no limit.'),
  MAX_HANDSHAKES_PER_SECOND: count(
    0,
    '500',
    'handshakes/s',
    'Sustained WebSocket handshakes; further ones are closed with 1013. 0: no limit.',
  ),
  MAX_HANDSHAKE_BURST: count(1, '5000', 'handshakes', 'WebSocket handshakes at once.'),
  MAX_LOOP_LAG_MS: ms(0, '1000', 'Lag of the event loop above which the pod becomes unready. 0: never.'),
  MAX_HEAP_PERCENT: count(
    0,
    '80',
    '%',
    'Use of the heap, or of the memory limit of the container, from which new sockets are closed with 1013. 0: never.',
    99,
  ),
  MAX_MESSAGE_BYTES: bytes(1024, '65536', 'Largest message from a client.'),
  MAX_MESSAGES_PER_SECOND: count(1, '20', 'messages/s', 'Sustained messages per connection.'),
  MAX_MESSAGE_BURST: count(1, '150', 'messages', 'Messages a connection may send at once.'),
  MAX_OPERATIONS_PER_CONNECTION: count(1, '100', 'operations', 'Live operations of one connection.'),
  MAX_CONNECTION_BYTES: bytes(
    65_536,
    '1048576',
    'Memory of the documents, variables and channel names that live operations of one connection keep.',
  ),
  MAX_OPERATION_ID_BYTES: bytes(1, '128', 'Longest id of an operation.'),
  MAX_QUEUE_BYTES: bytes(
    1024,
    '1048576',
    'Bytes waiting for one connection, or 4 times its largest message; past that, it is closed with 1013.',
  ),
  MAX_POD_QUEUE_BYTES: bytes(
    1024,
    '268435456',
    'Bytes waiting for all connections; past that, those with the largest queues are closed with 1013.',
  ),
  WRITE_BATCHING: bool(
    'true',
    "Whether a turn's messages for one connection leave in one write; `false` writes each by itself, to find faults.",
  ),
  MAX_PENDING_EVENTS: count(
    1,
    '1000',
    'events',
    'Events of one operation whose executions are in flight; past that, its connection is closed with 1013.',
  ),

  MAX_QUERY_LENGTH: count(1, '15000', 'characters', 'Longest query text.'),
  MAX_QUERY_TOKENS: count(1, '1000', 'tokens', 'Tokens in a document.'),
  MAX_QUERY_DEPTH: count(1, '8', 'levels', 'Nesting of fields (introspection has a rule of its own).'),
  MAX_QUERY_ALIASES: count(0, '15', 'aliases', 'Aliases in a document.'),
  MAX_QUERY_DIRECTIVES: count(0, '50', 'directives', 'Directives in a document.'),
  INTROSPECTION: bool('true', 'Whether clients may read the schema.'),
  GRAPHIQL: bool('true', 'Whether `GET /` shows GraphiQL.'),
  DOCUMENT_CACHE_ENTRIES: count(
    0,
    '1000',
    'documents',
    'Valid documents kept; 0: none, every request parses and validates its own.',
    1_000_000,
  ),
  DOCUMENT_CACHE_BYTES: bytes(1024, '67108864', 'Estimated memory of the documents kept.'),
  INVALID_DOCUMENT_CACHE_ENTRIES: count(
    0,
    '100',
    'documents',
    'Verdicts on invalid documents kept; 0: none.',
    1_000_000,
  ),
  AST_LOCATIONS: bool(
    'false',
    'Whether parsed documents keep the locations of their nodes; the errors of executions then name line and column.',
  ),
  JIT_AFTER_USES: count(
    0,
    '3',
    'executions',
    'Executions after which an operation is compiled; 1: with its first use, before it is executed; 0: never, and no `PROJECTION` either.',
  ),
  PROJECTION: bool(
    'true',
    "Whether results are copied from the payload's text; `false` executes every event whole, to find faults.",
  ),

  EXECUTION_TIMEOUT_MS: ms(
    1,
    '10000',
    'Longest execution of an event; past that, the operation ends and the others continue.',
  ),
  MAX_EXECUTIONS: count(
    1,
    '5000',
    'executions',
    'Executions of events that are in flight on this pod; more wait, and records stay in Kafka.',
  ),
  SHARING: bool(
    'true',
    'Whether operations share results; `false` executes every event for every operation, to find faults.',
  ),
  SHARING_AUDIT: optionalFraction(
    'Fraction of the shared deliveries that are executed again and compared; not set: 0.1 embedded, else 0.',
  ),

  FLOW_TARGET_MS: ms(
    0,
    '400',
    'Longest wait of a published message for its gateway; further records stay in Kafka. 0: no flow control.',
  ),
  FLOW_TARGET_BYTES: bytes(
    65_536,
    '8388608',
    'Most bytes of a partition on their way to a gateway; further records stay in Kafka.',
  ),
  FLOW_PATIENCE_MS: ms(100, '5000', 'Time without progress after which workers no longer wait for a gateway.'),

  BACKEND_TIMEOUT_MS: ms(1, '5000', "Longest wait for a backend's whole answer while the event loop is not blocked."),
  BACKEND_MAX_SOCKETS: count(1, '50', 'sockets', 'Requests in flight per backend, each on a keep-alive socket.'),
  BACKEND_RETRY_BUDGET: fraction('0.1', 'Most retries of a backend, as a fraction of its requests; 0: no retries.'),
  BACKEND_BREAKER_COOLDOWN_MS: ms(
    0,
    '5000',
    'Time for which a failing backend gets no requests; then one request probes it. 0: no circuit breaker.',
  ),

  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl(
    'OTLP collector that spans are sent to, without `/v1/traces`; not set: see the next.',
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl('The same with its path, for spans only.'),
  OTEL_TRACES_EXPORTER: list(
    '',
    'otlp, console or none',
    'Where spans go; not set: to the OTLP collector, if one is set, else nothing is traced.',
  ),
  OTEL_SDK_DISABLED: bool('false', 'Whether nothing is traced whatever else is set.'),
  OTEL_TRACES_SAMPLER: text(
    '',
    'a sampler of OpenTelemetry',
    '`always_on`, `always_off`, `traceidratio`, or one of them after `parentbased_`; not set: `parentbased_traceidratio`, 0.001.',
  ),
  OTEL_TRACES_SAMPLER_ARG: optionalFraction(
    'Share of the records without a trace context that are traced; not set: that of `OTEL_TRACES_SAMPLER`.',
  ),

  SAMPLE_INTERVAL_MS: ms(1, '500', 'Embedded: pause between sample records.'),
} as const satisfies Record<string, Variable>;

/** Settings that may change while the server runs. */
export const tunableNames = [
  'LOG_LEVEL',
  'MAX_CONNECTIONS',
  'MAX_HANDSHAKES_PER_SECOND',
  'MAX_HEAP_PERCENT',
  'MAX_OPERATIONS_PER_CONNECTION',
  'MAX_QUEUE_BYTES',
  'MAX_POD_QUEUE_BYTES',
  'MAX_EXECUTIONS',
  'SHARING_AUDIT',
  'BACKEND_MAX_SOCKETS',
  'OTEL_TRACES_SAMPLER_ARG',
] as const satisfies readonly (keyof typeof variables)[];
