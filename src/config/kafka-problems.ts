import { existsSync } from 'node:fs';
import { TlsFiles } from '../base/tls-files.ts';
import { tlsOf } from './service-tls.ts';
import { variables } from './variables.ts';
import type { Settings } from './settings.ts';

const TLS_SETTINGS = [
  'KAFKA_TLS_CA_FILE',
  'KAFKA_TLS_CERT_FILE',
  'KAFKA_TLS_KEY_FILE',
  'KAFKA_TLS_KEY_PASSPHRASE',
] as const;
const PASSWORD_SETTINGS = ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'] as const;

type KafkaSettings = Pick<
  Settings,
  | 'KAFKA_TLS'
  | 'KAFKA_SASL_MECHANISM'
  | 'KAFKA_SASL_TOKEN_PROVIDER'
  | (typeof TLS_SETTINGS)[number]
  | (typeof PASSWORD_SETTINGS)[number]
  | 'names'
  | 'secretFiles'
>;

/** A line for each setting of the connection to Kafka that cannot be used, alone or with the others. */
export function kafkaProblems(settings: KafkaSettings): string[] {
  return [...tlsProblems(settings), ...saslProblems(settings)];
}

/** A line for credentials that travel unencrypted. */
export function kafkaWarnings({ KAFKA_TLS: isTls, KAFKA_SASL_MECHANISM: mechanism, names }: KafkaSettings): string[] {
  if (isTls || (mechanism !== 'plain' && mechanism !== 'oauthbearer')) return [];
  const secret = mechanism === 'plain' ? 'password' : 'token';
  return [
    `${names.KAFKA_SASL_MECHANISM}=${mechanism} sends the ${secret} unencrypted without TLS: set ${names.KAFKA_TLS}=true and name a TLS listener in ${names.KAFKA_BROKERS}`,
  ];
}

function tlsProblems(settings: KafkaSettings): string[] {
  const { KAFKA_TLS_CERT_FILE: cert, KAFKA_TLS_KEY_FILE: key, names } = settings;
  const given = TLS_SETTINGS.filter((name) => settings[name] !== '').map((name) => names[name]);
  if (given.length > 0 && !settings.KAFKA_TLS)
    return [`${names.KAFKA_TLS}: expected true with ${given.join(' and ')}, got false`];
  if (cert !== '' && key === '')
    return [`${names.KAFKA_TLS_KEY_FILE}: expected with ${names.KAFKA_TLS_CERT_FILE}, got none`];
  if (cert === '' && key !== '')
    return [`${names.KAFKA_TLS_CERT_FILE}: expected with ${names.KAFKA_TLS_KEY_FILE}, got none`];
  if (key === '' && settings.KAFKA_TLS_KEY_PASSPHRASE !== '')
    return [`${names.KAFKA_TLS_KEY_FILE}: expected with ${names.KAFKA_TLS_KEY_PASSPHRASE}, got none`];
  const refusal = new TlsFiles(tlsOf('KAFKA', settings)).renew();
  return refusal === undefined ? [] : [refusal];
}

function saslProblems(settings: KafkaSettings): string[] {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_TOKEN_PROVIDER: provider, names } = settings;
  const given = PASSWORD_SETTINGS.filter((name) => settings[name] !== '').map((name) => names[name]);
  const named = [...given, ...(provider === '' ? [] : [names.KAFKA_SASL_TOKEN_PROVIDER])];
  if (mechanism === '') {
    if (named.length === 0) return [];
    return [
      `${names.KAFKA_SASL_MECHANISM}: expected ${variables.KAFKA_SASL_MECHANISM.expects} with ${named.join(' and ')}, got none`,
    ];
  }
  if (mechanism !== 'oauthbearer') {
    if (provider !== '')
      return [
        `${names.KAFKA_SASL_TOKEN_PROVIDER}: expected with ${names.KAFKA_SASL_MECHANISM}=oauthbearer, got ${mechanism}`,
      ];
    if (given.length === PASSWORD_SETTINGS.length) return [];
    return [
      `${names.KAFKA_SASL_USERNAME} and ${names.KAFKA_SASL_PASSWORD}: expected with ${names.KAFKA_SASL_MECHANISM}=${mechanism}`,
    ];
  }
  if (given.length > 0) return [`${given.join(' and ')}: expected none with ${names.KAFKA_SASL_MECHANISM}=oauthbearer`];
  if (provider === '')
    return [`${names.KAFKA_SASL_TOKEN_PROVIDER}: expected with ${names.KAFKA_SASL_MECHANISM}=oauthbearer, got none`];
  if (existsSync(provider)) return [];
  return [
    `${names.KAFKA_SASL_TOKEN_PROVIDER}: expected ${variables.KAFKA_SASL_TOKEN_PROVIDER.expects}, but ${JSON.stringify(provider)} does not exist`,
  ];
}
