import { certificateMend } from '../../certificate-mend.ts';
import { variables } from '../../variables.ts';
import type { KafkaConnectionConfig } from './kafka-access.ts';
import { findListener } from './listener.ts';
import type { KafkaListener } from './listener.ts';

/** For brokers that answer under an address of KAFKA_BROKERS, but not under their own. */
export const ADVERTISED_MEND = 'make all brokers reachable under the addresses that they advertise';

const SUPPORTED: readonly string[] = variables.KAFKA_SASL_MECHANISM.words;
/** An alert of the broker about the client certificate, or the lack of one. */
const ALERT = /alert[\w ]* (certificate|unknown ca)/i;

type SecurityConfig = Pick<KafkaConnectionConfig, 'KAFKA_TLS' | 'KAFKA_TLS_CERT_FILE' | 'KAFKA_SASL_MECHANISM'>;

/**
 * Which settings to correct when a connection has failed. Asks the brokers what their listeners speak, for about 6 s at most.
 * @param error of the connection
 */
export async function diagnose(error: unknown, config: KafkaConnectionConfig): Promise<string> {
  return connectionMend(reasonOf(error), await findListener(config.KAFKA_BROKERS), config);
}

/** The message of an error, or of each error that it holds. */
export function reasonOf(error: unknown): string {
  const { message, errors } = error as { message: string; errors?: readonly Error[] };
  return errors?.map((one) => one.message).join(', ') ?? message;
}

/**
 * @param reason message of the failure
 * @param listener undefined: no broker answered
 */
function connectionMend(reason: string, listener: KafkaListener | undefined, config: SecurityConfig): string {
  // The message has a mend.
  if (/KAFKA_TLS_\w+: /.test(reason)) return 'correct this file';
  const mends = [tlsMend(reason, listener, config), saslMend(reason, listener, config)].filter((mend) => mend !== '');
  return mends.join('; ') || (listener ? ADVERTISED_MEND : 'correct KAFKA_BROKERS, or the network');
}

function tlsMend(reason: string, listener: KafkaListener | undefined, config: SecurityConfig): string {
  const { KAFKA_TLS: isTls, KAFKA_TLS_CERT_FILE: certificate } = config;
  if (listener && listener.isTls && !isTls) return 'this listener uses TLS: set KAFKA_TLS=true';
  if (listener && !listener.isTls && isTls)
    return 'this listener does not use TLS: unset KAFKA_TLS, or name a TLS listener in KAFKA_BROKERS';
  if (!ALERT.test(reason)) return certificateMend(reason, 'the brokers', 'KAFKA_BROKERS', 'KAFKA_TLS_CA_FILE');
  return certificate === ''
    ? 'this listener expects a client certificate: set KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE'
    : 'the brokers refuse the client certificate: name a valid one of an authority that they trust in KAFKA_TLS_CERT_FILE';
}

function saslMend(reason: string, listener: KafkaListener | undefined, config: SecurityConfig): string {
  const { KAFKA_SASL_MECHANISM: mechanism } = config;
  if (listener && !listener.mechanisms.includes(mechanism.toUpperCase())) {
    const offered = listener.mechanisms.map((one) => one.toLowerCase());
    if (offered.length === 0)
      return mechanism === ''
        ? ''
        : 'this listener does not use SASL: unset KAFKA_SASL_MECHANISM, or name a SASL listener in KAFKA_BROKERS';
    const usable = offered.filter((one) => SUPPORTED.includes(one));
    if (usable.length === 0) return `this listener offers only SASL mechanisms that crier lacks: ${offered.join(', ')}`;
    const credentials = mechanism === '' ? `, with ${credentialsOf(usable)}` : '';
    return `this listener expects SASL: set KAFKA_SASL_MECHANISM=${usable.join(' or ')}${credentials}`;
  }
  if (!/^SASL .* failed/.test(reason)) return '';
  return `correct ${mechanism === 'oauthbearer' ? 'KAFKA_SASL_TOKEN_PROVIDER' : 'KAFKA_SASL_USERNAME or KAFKA_SASL_PASSWORD'}`;
}

function credentialsOf(mechanisms: readonly string[]): string {
  const isBearer = (mechanism: string) => mechanism === 'oauthbearer';
  return [
    ...(mechanisms.every(isBearer) ? [] : ['KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD']),
    ...(mechanisms.some(isBearer) ? ['KAFKA_SASL_TOKEN_PROVIDER'] : []),
  ].join(' or ');
}
