import { requestsPerSecondOfUser } from './limits.ts';
import type { SettingNames } from './setting-names.ts';
import type { UnknownVariable } from './settings-input.ts';
import type { Environment } from './variable.ts';
import { variables } from './variables.ts';
import type { Technique } from './variables/techniques-variables.ts';

const AGREED = 'the pods agree on a random one through Redis; unset it';

/** Characters such as `@` and `/` of both are written as in a URL. */
const REGISTRY_LOGIN = 'https://user:password@registry, percent-encoded';

/** A setting of a former version, and the word of `DISABLE` that took its place. */
interface FormerSwitch {
  readonly name: string;
  readonly technique: Technique;
  /** What it is without the word. */
  readonly on: string;
  /** What it is with the word. */
  readonly off: 'off' | 'on' | '0';
}

const formerSwitches: readonly FormerSwitch[] = [
  { name: 'SHARING', technique: 'sharing', on: 'on', off: 'off' },
  { name: 'PROJECTION', technique: 'projection', on: 'on', off: 'off' },
  { name: 'KEY_REWRITER', technique: 'key-rewriter', on: 'on', off: 'off' },
  { name: 'WRITE_BATCHING', technique: 'write-batching', on: 'on', off: 'off' },
  { name: 'AST_LOCATIONS', technique: 'compact-ast', on: 'off', off: 'on' },
  { name: 'JIT_AFTER_USES', technique: 'jit', on: '3', off: '0' },
  { name: 'DOCUMENT_CACHE_ENTRIES', technique: 'document-cache', on: '1000', off: '0' },
  { name: 'FLOW_TARGET_MS', technique: 'flow-control', on: '400', off: '0' },
  { name: 'BACKEND_BREAKER_COOLDOWN_MS', technique: 'circuit-breaker', on: '5000', off: '0' },
  { name: 'MAX_LOOP_LAG_MS', technique: 'loop-lag', on: '1000', off: '0' },
  { name: 'UNDECODABLE_LIMIT', technique: 'undecodable-limit', on: '100', off: '0' },
];

/** How an environment may have written what a switch is with the word. */
const WRITTEN = { off: /^(?:off|false)$/, on: /^(?:on|true)$/, '0': /^0+$/ } as const;

/** Without these, requests to the schema registry would have no credentials, and clients no token. */
const CREDENTIALS = /^SCHEMA_REGISTRY_(?:USER|PASSWORD|PASSWORD_FILE)$|^JWT_COOKIE$/;

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
    'MAX_REQUESTS_PER_SECOND_PER_USER',
    ({ MAX_REQUESTS_IN_FLIGHT, ROUTERS }) =>
      follows(MAX_REQUESTS_IN_FLIGHT, `a tenth of it, at least 100; none for ${ROUTERS}`),
  ],
  [
    'MAX_REQUESTS_IN_FLIGHT_PER_ADDRESS',
    ({ MAX_REQUESTS_IN_FLIGHT, MAX_REQUESTS_PER_SECOND_PER_ADDRESS: rate }) =>
      follows(MAX_REQUESTS_IN_FLIGHT, `a tenth of it, or 100 with 0, where ${rate} is set, else no limit`),
  ],
  ['SCHEMA_REGISTRY_USER', ({ SCHEMA_REGISTRY_URL }) => partOf(SCHEMA_REGISTRY_URL, REGISTRY_LOGIN)],
  ['SCHEMA_REGISTRY_PASSWORD', ({ SCHEMA_REGISTRY_URL }) => partOf(SCHEMA_REGISTRY_URL, REGISTRY_LOGIN)],
  ['SCHEMA_REGISTRY_PASSWORD_FILE', ({ SCHEMA_REGISTRY_URL }) => partOf(`${SCHEMA_REGISTRY_URL}_FILE`, REGISTRY_LOGIN)],
  ['JWT_COOKIE', ({ JWT_LOCATIONS }) => partOf(JWT_LOCATIONS, 'cookie:<name>')],
  ['ALLOWED_HEADERS', ({ ALLOWED_ORIGINS }) => `pages of ${ALLOWED_ORIGINS} may send any header; unset it`],
  ['CURSOR_SECRET', () => AGREED],
  ['CURSOR_SECRET_FILE', () => AGREED],
  ...formerSwitches.map(
    ({ name, on, off, technique }) =>
      [name, ({ DISABLE }: SettingNames) => isUnless(on, `${off} with ${DISABLE}=${technique}`)] as const,
  ),
]);

/**
 * What a variable means that was a setting of a former version; undefined: it was none. It stops the start where it held credentials,
 * turned off what is on now, or allowed a user another rate. With the word in `DISABLE` it does not, so that one environment suits both versions.
 */
export function removedVariable(
  name: string,
  value: string,
  environment: Environment,
  names: SettingNames,
): UnknownVariable | undefined {
  const fix = removedSettings.get(name);
  if (!fix) return undefined;
  const former = formerSwitches.find((one) => one.name === name);
  if (former && WRITTEN[former.off].test(value) && !isDisabled(former, environment)) {
    const mend = `set ${names.DISABLE}=${former.technique}`;
    return {
      message: `${name}=${value} is no longer a setting, and has no effect: ${mend}`,
      isNear: false,
      stopsStart: true,
    };
  }
  const message = `${name} is no longer a setting: ${fix(names)}`;
  const stopsStart = CREDENTIALS.test(name) || isOtherRate(name, value, environment);
  return { message, isNear: false, ...(stopsStart && { stopsStart }) };
}

/** True if the former setting gives users another rate of requests than they have now. */
function isOtherRate(name: string, value: string, { MAX_REQUESTS_IN_FLIGHT: inFlight }: Environment): boolean {
  const maxInFlight = Number(inFlight || variables.MAX_REQUESTS_IN_FLIGHT.default);
  return name === 'MAX_REQUESTS_PER_SECOND_PER_USER' && Number(value) !== requestsPerSecondOfUser(maxInFlight);
}

function isDisabled({ technique }: FormerSwitch, { DISABLE = '' }: Environment): boolean {
  return DISABLE.split(',').some((word) => word.trim() === technique);
}

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
