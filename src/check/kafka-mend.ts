import { certificateMend } from '../certificate-mend.ts';
import type { KafkaConnectionConfig } from '../kafka/kafkajs/client.ts';
import { variables } from '../variables.ts';
import type { KafkaListener } from './kafka-listener.ts';

/** For brokers that answer under an address of KAFKA_BROKERS, but not under their own. */
export const ADVERTISED_MEND = 'make all brokers reachable under the addresses that they advertise';

const SUPPORTED: readonly string[] = variables.KAFKA_SASL_MECHANISM.schema.options;

type SecurityConfig = Pick<KafkaConnectionConfig, 'KAFKA_TLS' | 'KAFKA_SASL_MECHANISM'>;

/**
 * Which settings to correct when a connection has failed.
 * @param reason message of the failure
 * @param listener undefined: no broker answered
 */
export function connectionMend(reason: string, listener: KafkaListener | undefined, config: SecurityConfig): string {
  const mends = [tlsMend(reason, listener, config), saslMend(reason, listener, config)].filter((mend) => mend !== '');
  return mends.join('; ') || (listener ? ADVERTISED_MEND : 'correct KAFKA_BROKERS, or the network');
}

function tlsMend(reason: string, listener: KafkaListener | undefined, { KAFKA_TLS: isTls }: SecurityConfig): string {
  if (listener && listener.isTls && !isTls) return 'this listener uses TLS: set KAFKA_TLS=true';
  if (listener && !listener.isTls && isTls)
    return 'this listener does not use TLS: unset KAFKA_TLS, or name a TLS listener in KAFKA_BROKERS';
  return certificateMend(reason, 'the brokers', 'KAFKA_BROKERS');
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
    const user = mechanism === '' ? ', with KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD' : '';
    return `this listener expects SASL: set KAFKA_SASL_MECHANISM=${usable.join(' or ')}${user}`;
  }
  return /^SASL .* failed/.test(reason) ? 'correct KAFKA_SASL_USERNAME or KAFKA_SASL_PASSWORD' : '';
}
