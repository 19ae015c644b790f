import type { SettingNames } from './setting-names.ts';

const AGREED = 'the pods agree on a random one through Redis; unset it';

/** Characters such as `@` and `/` of both are written as in a URL. */
const REGISTRY_LOGIN = 'https://user:password@registry, percent-encoded';

/** What to do with a setting of a former version, by its name: what its value follows from, or what it is. */
export const removedSettings: ReadonlyMap<string, (names: SettingNames) => string> = new Map<
  string,
  (names: SettingNames) => string
>([
  ['MAX_QUERY_LENGTH', ({ MAX_MESSAGE_BYTES }) => follows(MAX_MESSAGE_BYTES, 'a quarter of it, and at least 16384')],
  ['MAX_QUERY_ALIASES', ({ MAX_QUERY_TOKENS }) => follows(MAX_QUERY_TOKENS, '15 for 1000 tokens')],
  ['MAX_QUERY_DIRECTIVES', ({ MAX_QUERY_TOKENS }) => follows(MAX_QUERY_TOKENS, '50 for 1000 tokens')],
  ['MAX_VARIABLES_BYTES', ({ MAX_MESSAGE_BYTES }) => follows(MAX_MESSAGE_BYTES, 'a quarter of it, and at least 16384')],
  ['MAX_VARIABLES_DEPTH', () => is('16')],
  [
    'MAX_VARIABLES_VALUES',
    ({ MAX_MESSAGE_BYTES }) => follows(MAX_MESSAGE_BYTES, '1000 for 65536 bytes, in proportion above'),
  ],
  ['MAX_CHANNEL_BYTES', ({ MAX_MESSAGE_BYTES }) => follows(MAX_MESSAGE_BYTES, 'a sixteenth of it, and at least 4096')],
  ['MAX_OPERATION_CHANNELS', (names) => follows(names.MAX_OPERATIONS_PER_CONNECTION, 'it is the same')],
  ['MAX_OPERATION_ID_BYTES', () => is('128')],
  ['DOCUMENT_CACHE_BYTES', () => is('67108864')],
  ['DOCUMENT_CACHE_ENTRIES', ({ DISABLE }) => isUnless('1000', `0 with ${DISABLE}=document-cache`)],
  ['INVALID_DOCUMENT_CACHE_ENTRIES', () => is('100')],
  ['MAX_MESSAGE_BURST', ({ MAX_MESSAGES_PER_SECOND }) => follows(MAX_MESSAGES_PER_SECOND, '7.5 times that')],
  ['MAX_HANDSHAKE_BURST', (names) => follows(names.MAX_HANDSHAKES_PER_SECOND, '10 times that')],
  ['COMPRESSION_MIN_BYTES', () => is('512')],
  ['FLOW_TARGET_BYTES', () => is('8388608')],
  ['FLOW_PATIENCE_MS', () => is('5000')],
  ['BACKEND_RETRY_BUDGET', () => is('0.1')],
  ['MAX_INFLATED_BATCH_BYTES', ({ MAX_INFLIGHT_BYTES }) => follows(MAX_INFLIGHT_BYTES, 'it is the same')],
  ['MAX_RECORD_DEPTH', () => is('64')],
  ['KAFKA_TOPIC_CHECK_INTERVAL_MS', () => is('10000')],
  ['KAFKA_STALL_TIMEOUT_MS', () => is('30000')],
  ['SCHEMA_REGISTRY_TIMEOUT_MS', () => is('3000')],
  ['JWT_CLOCK_TOLERANCE_MS', () => is('60000')],
  ['MAX_PENDING_EVENTS', () => is('1000')],
  ['AUTHENTICATION_TIMEOUT_MS', ({ INIT_TIMEOUT_MS }) => follows(INIT_TIMEOUT_MS, 'it is the same, and at least 5000')],
  ['MAX_INIT_BYTES', () => is('8192')],
  [
    'MAX_OPERATIONS_PER_USER',
    ({ MAX_OPERATIONS_PER_CONNECTION }) => follows(MAX_OPERATIONS_PER_CONNECTION, '10 times that'),
  ],
  [
    'MAX_CONNECTION_BYTES',
    ({ MAX_MESSAGE_BYTES, MAX_OPERATIONS_PER_CONNECTION: operations }) =>
      follows(MAX_MESSAGE_BYTES, `4 times that, at least 1048576, and at least 10240 for each of ${operations}`),
  ],
  [
    'MAX_REQUESTS_IN_FLIGHT_PER_USER',
    ({ MAX_REQUESTS_IN_FLIGHT }) => follows(MAX_REQUESTS_IN_FLIGHT, 'a tenth of it, or 100 with 0'),
  ],
  [
    'MAX_REQUESTS_IN_FLIGHT_PER_ADDRESS',
    ({ MAX_REQUESTS_IN_FLIGHT, MAX_REQUESTS_PER_SECOND_PER_ADDRESS: rate }) =>
      follows(MAX_REQUESTS_IN_FLIGHT, `a tenth of it, or 100 with 0, where ${rate} is set, else no limit`),
  ],
  ['SCHEMA_REGISTRY_USER', ({ SCHEMA_REGISTRY_URL }) => partOf(SCHEMA_REGISTRY_URL, REGISTRY_LOGIN)],
  ['SCHEMA_REGISTRY_PASSWORD', ({ SCHEMA_REGISTRY_URL }) => partOf(SCHEMA_REGISTRY_URL, REGISTRY_LOGIN)],
  ['SCHEMA_REGISTRY_PASSWORD_FILE', ({ SCHEMA_REGISTRY_URL }) => partOf(`${SCHEMA_REGISTRY_URL}_FILE`, REGISTRY_LOGIN)],
  [
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    ({ OTEL_EXPORTER_OTLP_ENDPOINT }) => partOf(OTEL_EXPORTER_OTLP_ENDPOINT, 'without its path /v1/traces'),
  ],
  ['CURSOR_SECRET', () => AGREED],
  ['CURSOR_SECRET_FILE', () => AGREED],
  ['SHARING', ({ DISABLE }) => isUnless('on', `off with ${DISABLE}=sharing`)],
  ['PROJECTION', ({ DISABLE }) => isUnless('on', `off with ${DISABLE}=projection`)],
  ['KEY_REWRITER', ({ DISABLE }) => isUnless('on', `off with ${DISABLE}=key-rewriter`)],
  ['WRITE_BATCHING', ({ DISABLE }) => isUnless('on', `off with ${DISABLE}=write-batching`)],
  ['AST_LOCATIONS', ({ DISABLE }) => isUnless('off', `on with ${DISABLE}=compact-ast`)],
  ['JIT_AFTER_USES', ({ DISABLE }) => isUnless('3', `0 with ${DISABLE}=jit`)],
  ['FLOW_TARGET_MS', ({ DISABLE }) => isUnless('400', `0 with ${DISABLE}=flow-control`)],
  ['BACKEND_BREAKER_COOLDOWN_MS', ({ DISABLE }) => isUnless('5000', `0 with ${DISABLE}=circuit-breaker`)],
  ['MAX_LOOP_LAG_MS', ({ DISABLE }) => isUnless('1000', `0 with ${DISABLE}=loop-lag`)],
  ['UNDECODABLE_LIMIT', ({ DISABLE }) => isUnless('100', `0 with ${DISABLE}=undecodable-limit`)],
]);

function follows(setting: string, how: string): string {
  return `its value follows from ${setting} (${how}): unset it, and set ${setting} to change it`;
}

function partOf(setting: string, form: string): string {
  return `${setting} has it (${form}); unset it`;
}

function isUnless(value: string, other: string): string {
  return `it is ${value}, or ${other}; unset it`;
}

function is(value: string): string {
  return `it is always ${value}; unset it`;
}
