import { withoutOpensslPlaces } from '../../../base/openssl-text.ts';
import { certificateFix } from '../../../base/certificate-fix.ts';
import type { SettingNames } from '../../../config/setting-names.ts';
import { variables } from '../../../config/variables.ts';
import { brokerOf, causesOf } from '../kafka-errors.ts';
import type { KafkaConnectionConfig } from './kafka-access.ts';
import { findListener } from './listener.ts';
import type { KafkaListener } from './listener.ts';

/** For brokers that answer under an address of KAFKA_BROKERS, but not under their own. */
export const ADVERTISED_FIX = 'make all brokers reachable under the addresses that they advertise';

const SUPPORTED: readonly string[] = variables.KAFKA_SASL_MECHANISM.words;
/** An alert of the broker about the client certificate, or the lack of one. */
const ALERT = /alert[\w ]* (certificate|unknown ca)/i;

type SecurityConfig = Pick<
  KafkaConnectionConfig,
  'KAFKA_TLS' | 'KAFKA_TLS_CERT_FILE' | 'KAFKA_SASL_MECHANISM' | 'names'
>;

/**
 * Which settings to correct when a connection or a first request has failed. If no broker has answered it, asks the brokers what their
 * listeners speak, for about 6 s at most.
 */
export async function diagnose(error: unknown, config: KafkaConnectionConfig): Promise<string> {
  const answer = answerOf(error);
  if (answer !== undefined) return answerFix(answer, config.names);
  const listener = await findListener(config.KAFKA_BROKERS);
  return connectionFix(reasonOf(error), listener, config) || reachFix(error, listener, config);
}

/** What has failed: a connection, to a broker of KAFKA_BROKERS or to one that these name, or a request that a broker has answered. */
export function failureOf(error: unknown, brokers: readonly string[]): string {
  const names = brokers.join(', ');
  if (answerOf(error) !== undefined) return `${names} answered with an error`;
  const address = brokerOf(error);
  if (address === undefined || brokers.includes(address)) return `no connection to ${names}`;
  return `no connection to the advertised address ${address} (KAFKA_BROKERS: ${names})`;
}

/** Kafka's name of the error with which a broker has answered a request. undefined: no broker has, or it refused the login. */
export function answerOf(error: unknown): string | undefined {
  for (const one of causesOf(error)) {
    if ('type' in one && typeof one.type === 'string') return one.type.includes('SASL') ? undefined : one.type;
  }
  return undefined;
}

export function answerFix(answer: string, names: SettingNames): string {
  if (answer === 'GROUP_AUTHORIZATION_FAILED') return `grant Read on the group, or correct ${names.KAFKA_GROUP_ID}`;
  if (answer.endsWith('_AUTHORIZATION_FAILED')) return 'grant this user the right';
  return answer === 'GROUP_COORDINATOR_NOT_AVAILABLE'
    ? 'give the topic __consumer_offsets leaders: its offsets.topic.replication.factor is at most the number of brokers'
    : 'the log of the brokers says why';
}

/** The message of an error, or of each error that it holds. */
export function reasonOf(error: unknown): string {
  const { message, errors } = error as { message: string; errors?: readonly Error[] };
  return withoutOpensslPlaces(errors?.map((one) => one.message).join(', ') ?? message);
}

/**
 * '': TLS and SASL are as the listener expects.
 * @param reason message of the failure
 * @param listener undefined: no broker answered
 */
function connectionFix(reason: string, listener: KafkaListener | undefined, config: SecurityConfig): string {
  // The message has a fix.
  const { KAFKA_TLS_CA_FILE, KAFKA_TLS_CERT_FILE, KAFKA_TLS_KEY_FILE } = config.names;
  const files = [KAFKA_TLS_CA_FILE, KAFKA_TLS_CERT_FILE, KAFKA_TLS_KEY_FILE];
  if (files.some((file) => reason.includes(`${file}: `))) return 'correct this file';
  return [tlsFix(reason, listener, config), saslFix(reason, listener, config)].filter((fix) => fix !== '').join('; ');
}

function reachFix(error: unknown, listener: KafkaListener | undefined, config: KafkaConnectionConfig): string {
  const { KAFKA_BROKERS: brokers, names } = config;
  if (!listener && /Closed connection|does not answer/.test(reasonOf(error)))
    return `no Kafka answers there: correct host and port in ${names.KAFKA_BROKERS}`;
  if (!listener) return `correct ${names.KAFKA_BROKERS}, or the network`;
  const isEnded = [...causesOf(error)].some(({ name }) => name === 'KafkaJSConnectionClosedError');
  return isEnded && brokers.includes(brokerOf(error) ?? '')
    ? 'this broker has ended the connection: its log says why'
    : ADVERTISED_FIX;
}

function tlsFix(reason: string, listener: KafkaListener | undefined, config: SecurityConfig): string {
  const { KAFKA_TLS: isTls, KAFKA_TLS_CERT_FILE: certificate, names } = config;
  if (listener && listener.isTls && !isTls) return `this listener uses TLS: set ${names.KAFKA_TLS}=true`;
  if (listener && !listener.isTls && isTls)
    return `this listener does not use TLS: unset ${names.KAFKA_TLS}, or name a TLS listener in ${names.KAFKA_BROKERS}`;
  if (!ALERT.test(reason)) return certificateFix(reason, 'the brokers', names.KAFKA_BROKERS, names.KAFKA_TLS_CA_FILE);
  return certificate === ''
    ? `this listener expects a client certificate: set ${names.KAFKA_TLS_CERT_FILE} and ${names.KAFKA_TLS_KEY_FILE}`
    : `the brokers refuse the client certificate: name a valid one of an authority that they trust in ${names.KAFKA_TLS_CERT_FILE}`;
}

function saslFix(reason: string, listener: KafkaListener | undefined, config: SecurityConfig): string {
  const { KAFKA_SASL_MECHANISM: mechanism, names } = config;
  if (listener && !listener.mechanisms.includes(mechanism.toUpperCase())) {
    const offered = listener.mechanisms.map((one) => one.toLowerCase());
    if (offered.length === 0)
      return mechanism === ''
        ? ''
        : `this listener does not use SASL: unset ${names.KAFKA_SASL_MECHANISM}, or name a SASL listener in ${names.KAFKA_BROKERS}`;
    const usable = offered.filter((one) => SUPPORTED.includes(one));
    if (usable.length === 0) return `this listener offers only SASL mechanisms that crier lacks: ${offered.join(', ')}`;
    const credentials = mechanism === '' ? `, with ${credentialsOf(usable, names)}` : '';
    return `this listener expects SASL: set ${names.KAFKA_SASL_MECHANISM}=${usable.join(' or ')}${credentials}`;
  }
  if (!/^SASL .* failed/.test(reason)) return '';
  return mechanism === 'oauthbearer'
    ? `correct ${names.KAFKA_SASL_TOKEN_PROVIDER}`
    : `correct ${names.KAFKA_SASL_USERNAME} or ${names.KAFKA_SASL_PASSWORD}`;
}

function credentialsOf(mechanisms: readonly string[], names: SettingNames): string {
  const isBearer = (mechanism: string) => mechanism === 'oauthbearer';
  return [
    ...(mechanisms.every(isBearer) ? [] : [`${names.KAFKA_SASL_USERNAME} and ${names.KAFKA_SASL_PASSWORD}`]),
    ...(mechanisms.some(isBearer) ? [names.KAFKA_SASL_TOKEN_PROVIDER] : []),
  ].join(' or ');
}
