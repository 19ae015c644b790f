import kafkajs from 'kafkajs';

/** Of a request for several topics its first error; any other error itself. */
export function firstError(error: unknown): unknown {
  return error instanceof kafkajs.KafkaJSAggregateError ? error.errors[0] : error;
}

const REBALANCE: ReadonlySet<string> = new Set(['REBALANCE_IN_PROGRESS', 'ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID']);
const MISSING_TOPIC: ReadonlySet<string> = new Set(['UNKNOWN_TOPIC_OR_PARTITION']);
const GROUP_FORBIDDEN: ReadonlySet<string> = new Set(['GROUP_AUTHORIZATION_FAILED']);
const TOO_LARGE: ReadonlySet<string> = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']);

/** An error and its causes, from the outermost on. */
export function* causesOf(error: unknown): Generator<Error> {
  for (let one = error; one instanceof Error; one = one.cause) yield one;
}

/** True if the error, or one of its causes, has one of Kafka's names of errors, which kafkajs calls `type`. */
export function hasType(error: unknown, types: ReadonlySet<string>): boolean {
  for (const one of causesOf(error)) if ('type' in one && types.has(one.type as string)) return true;
  return false;
}

/** `host:port` of the broker to which a connection has failed; undefined: the error names none. */
export function brokerOf(error: unknown): string | undefined {
  for (const one of causesOf(error)) if ('broker' in one && typeof one.broker === 'string') return one.broker;
  return undefined;
}

/** True if the client has thrown the error, whether a broker has answered or not. */
export function isKafkaError(error: unknown): error is Error {
  return error instanceof kafkajs.KafkaJSError;
}

const UNREACHED: ReadonlySet<string> = new Set([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSRequestTimeoutError',
  'KafkaJSSASLAuthenticationError',
]);

/** True if a broker could not be reached, has ended the connection, or refuses the login. */
export function isUnreached(error: unknown): boolean {
  for (const { name } of causesOf(error)) if (UNREACHED.has(name)) return true;
  return false;
}

/** True if a broker refuses a request for now, such as during an election. */
export function isTransient(error: unknown): boolean {
  return error instanceof kafkajs.KafkaJSProtocolError && error.retriable;
}

/** True if a broker refuses a commit of a generation that has ended. Its records are read again. */
export function isRebalance(error: unknown): boolean {
  return hasType(error, REBALANCE);
}

/** True if the client has given a request up after its retries: another attempt may succeed. */
export function isRetriesExceeded(error: unknown): boolean {
  return error instanceof kafkajs.KafkaJSNumberOfRetriesExceeded;
}

/** True if this user has no right on the group. */
export function isGroupForbidden(error: unknown): boolean {
  return hasType(error, GROUP_FORBIDDEN);
}

export function isMissingTopic(error: unknown): boolean {
  return hasType(error, MISSING_TOPIC);
}

/** True if records are larger than their topic allows. */
export function isTooLarge(error: unknown): boolean {
  return hasType(error, TOO_LARGE);
}
