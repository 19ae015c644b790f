import type { SettingValues } from './settings-input.ts';
import type { Technique } from './variables/techniques-variables.ts';

const MIB = 1_048_576;

/** Limits that are no settings of their own: constants, and what follows from a setting. */
export type Limits = ReturnType<typeof limitsOf>;

/** A record nested deeper is poison: objects of a program have a few levels, and recursion needs a bound. */
export const MAX_RECORD_DEPTH = 64;

/** Longest wait in ms for an answer of the schema registry, also of AWS Glue. */
export const SCHEMA_REGISTRY_TIMEOUT_MS = 3000;

/** Wait in ms for a gateway without progress, after which workers go on without it: longer than a reconnect, shorter than an outage. */
const FLOW_PATIENCE_MS = 5000;

export function limitsOf(settings: SettingValues) {
  const { MAX_MESSAGE_BYTES: message, MAX_QUERY_TOKENS: tokens } = settings;
  const has = (technique: Technique) => !settings.DISABLE.includes(technique);
  const documents = has('document-cache') ? 1000 : 0;
  const ofOneInFlight = tenthOf(settings.MAX_REQUESTS_IN_FLIGHT);
  const MAX_VARIABLES_BYTES = Math.max(16_384, Math.floor(message / 4));
  return {
    /** Operations whose results are equal share one execution. */
    SHARING: has('sharing'),
    /** Results are copied from the payload's text. */
    PROJECTION: has('projection'),
    /** Keys are renamed in a record's text, without parsing it. */
    KEY_REWRITER: has('key-rewriter'),
    /** A turn's messages for one connection leave in one write. */
    WRITE_BATCHING: has('write-batching'),
    /** Parsed documents keep the locations of their nodes, and the errors of executions name line and column. */
    AST_LOCATIONS: !has('compact-ast'),
    /** Executions after which an operation is compiled; 0: never, and its results are not projected. */
    JIT_AFTER_USES: has('jit') ? 3 : 0,
    /** Valid documents; 0: each request parses and validates its own. */
    DOCUMENT_CACHE_ENTRIES: documents,
    /** Longest wait in ms for the token's key and the graph's `authenticate`: longer than the fetch of a key set may take. */
    AUTHENTICATION_TIMEOUT_MS: Math.max(settings.INIT_TIMEOUT_MS, 5000),
    /** Headers and `connection_init` that a connection keeps, in bytes, without a verified token; also a `ping` with a token. */
    MAX_INIT_BYTES: 8192,
    /** Memory in bytes that the live operations of one connection may keep, whatever their number. `connectionLimits` may allow more. */
    MAX_CONNECTION_BYTES: Math.max(MIB, 4 * message),
    /** HTTP requests of one user, also where a pod has no limit. */
    MAX_REQUESTS_IN_FLIGHT_PER_USER: ofOneInFlight,
    /** Sustained HTTP requests of one user. */
    MAX_REQUESTS_PER_SECOND_PER_USER: requestsPerSecondOfUser(settings.MAX_REQUESTS_IN_FLIGHT),
    /** HTTP requests of one address that name no user. Many clients may share an address, so only a limit of its rate limits them. */
    MAX_REQUESTS_IN_FLIGHT_PER_ADDRESS: settings.MAX_REQUESTS_PER_SECOND_PER_ADDRESS > 0 ? ofOneInFlight : 0,
    /** Characters; a message has a query, its variables and its envelope. */
    MAX_QUERY_LENGTH: Math.max(16_384, Math.floor(message / 4)),
    /** Each alias is an answer of its own, so fewer than other tokens. */
    MAX_QUERY_ALIASES: Math.ceil(tokens * 0.015),
    MAX_QUERY_DIRECTIVES: Math.ceil(tokens / 20),
    /** Bytes, as JSON. */
    MAX_VARIABLES_BYTES,
    /** Levels of lists and objects; recursion needs a bound. */
    MAX_VARIABLES_DEPTH: 16,
    /** Values with those in objects and lists: one for 16 bytes. */
    MAX_VARIABLES_VALUES: Math.floor((MAX_VARIABLES_BYTES * 1000) / 16_384),
    /** Bytes of a channel's name, which Redis and each subscriber keep. */
    MAX_CHANNEL_BYTES: Math.max(4096, Math.floor(message / 16)),
    /** Bytes of an operation's id: UUIDs have 36. */
    MAX_OPERATION_ID_BYTES: 128,
    /** Estimated memory of the documents kept: 64 KiB for each. */
    DOCUMENT_CACHE_BYTES: Math.max(MIB, documents * 65_536),
    INVALID_DOCUMENT_CACHE_ENTRIES: Math.ceil(documents / 10),
    /** Messages at once: a page of 100 operations that reconnects, at the default rate. */
    MAX_MESSAGE_BURST: Math.ceil(settings.MAX_MESSAGES_PER_SECOND * 7.5),
    /** Bytes: below it, deflate saves less than its block costs. */
    COMPRESSION_MIN_BYTES: 512,
    /** Longest wait in ms of a published message for its gateway; further records stay in Kafka. 0: no flow control. */
    FLOW_TARGET_MS: has('flow-control') ? 400 : 0,
    /** Most bytes of a partition on their way to a gateway: what it serves in `FLOW_TARGET_MS` with results of 2 KB. */
    FLOW_TARGET_BYTES: 8 * MIB,
    FLOW_PATIENCE_MS,
    /** Retries of a backend, as a fraction of its requests: more would double the load of one that fails. */
    BACKEND_RETRY_BUDGET: 0.1,
    /** Time in ms for which a failing backend gets no requests; then one request probes it. 0: no circuit breaker. */
    BACKEND_BREAKER_COOLDOWN_MS: has('circuit-breaker') ? 5000 : 0,
    /** Lag of the event loop in ms above which the pod becomes unready and closes new sockets. 0: never. */
    MAX_LOOP_LAG_MS: has('loop-lag') ? 1000 : 0,
    /** A topic whose first records, this many, are all undecodable is stopped. 0: they go to the dead-letter topic. */
    UNDECODABLE_LIMIT: has('undecodable-limit') ? 100 : 0,
    /** Interval in ms between looks for missing topics and new partitions. */
    KAFKA_TOPIC_CHECK_INTERVAL_MS: 10_000,
    /** Lag without progress in ms after which the consumer is rebuilt. */
    KAFKA_STALL_TIMEOUT_MS: 30_000,
    SCHEMA_REGISTRY_TIMEOUT_MS,
    /** How far in ms the clocks of crier and of the issuer of tokens may differ. */
    JWT_CLOCK_TOLERANCE_MS: 60_000,
    /** Events of one operation whose executions are in flight; past that, its connection is closed with 1013. */
    MAX_PENDING_EVENTS: 1000,
    /** Bytes; a larger batch is poison, because it has no room. */
    MAX_INFLATED_BATCH_BYTES: settings.MAX_INFLIGHT_BYTES,
    MAX_RECORD_DEPTH,
  };
}

/** Those that a user may have in flight, if each takes a second, and never fewer than by default: a small pod serves quick ones. */
export function requestsPerSecondOfUser(maxInFlight: number): number {
  return Math.max(100, tenthOf(maxInFlight));
}

/** @param maxInFlight 0: no limit, of one user that of the default */
function tenthOf(maxInFlight: number): number {
  return Math.ceil((maxInFlight || 1000) / 10);
}
