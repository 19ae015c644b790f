import { bool, bytes, list, MS, ms, name, oneOf, secret, text } from '../variable.ts';

const PEM_FILE = 'the path of a PEM file';

export const kafkaVariables = {
  KAFKA_BROKERS: list('', 'host:port, separated by commas', 'Bootstrap servers; not set: `EMBEDDED`.'),
  KAFKA_GROUP_ID: text(
    '',
    'a consumer group id',
    "Consumer group of all workers; not set: `crier-` and the graph's name; set it in production: a renamed graph folder is a new group, which begins at the end.",
  ),
  KAFKA_TLS: bool('false', 'Whether brokers are reached over TLS.'),
  KAFKA_TLS_CA_FILE: text('', PEM_FILE, "PEM file of the brokers' authorities; not set: those of Node."),
  KAFKA_TLS_CERT_FILE: text('', PEM_FILE, 'PEM file of the client certificate, with its chain.'),
  KAFKA_TLS_KEY_FILE: text('', PEM_FILE, "PEM file of the certificate's private key."),
  KAFKA_TLS_KEY_PASSPHRASE: secret(text('', 'a passphrase', 'Passphrase of the private key, if it is encrypted.')),
  KAFKA_SASL_MECHANISM: oneOf(
    ['', 'plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer'],
    '',
    'plain, scram-sha-256, scram-sha-512 or oauthbearer',
    'SASL mechanism: `plain`, `scram-sha-256`, `scram-sha-512` or `oauthbearer`; not set: none.',
  ),
  KAFKA_SASL_USERNAME: secret(text('', 'a user name', 'SASL user name.')),
  KAFKA_SASL_PASSWORD: secret(text('', 'a password', 'SASL password.')),
  KAFKA_SASL_TOKEN_PROVIDER: text(
    '',
    'the path of a module',
    'Module whose default export returns the token of `oauthbearer`: `{ value, expiresAt }`.',
  ),
  KAFKA_SESSION_TIMEOUT_MS: ms(
    6000,
    '10000',
    "Silence after which a worker's partitions go to another.",
    `${MS}, at least 6000 (what brokers allow)`,
  ),
  KAFKA_FROM_BEGINNING: bool('false', 'Whether a new group starts at the oldest record instead of now.'),
  KAFKA_DEAD_LETTER_TOPIC: name('crier-dead-letter', 'a topic name', 'Topic of records that cannot be decoded.'),
  DEAD_LETTER: oneOf(
    ['WAIT', 'DROP'],
    'WAIT',
    'WAIT or DROP',
    'While the dead-letter topic is unavailable, the partition waits (`WAIT`), or records are dropped (`DROP`).',
  ),
  MAX_RECORD_BYTES: bytes(1, '1048576', 'Larger records are poison.'),
  UNAVAILABLE_VALUE: name(
    '__debezium_unavailable_value',
    "the connector's `unavailable.value.placeholder`",
    "Debezium's text for a value that its database did not log.",
  ),
  MAX_INFLIGHT_BYTES: bytes(
    131_072,
    '67108864',
    'Bytes of decoded records that are not processed yet (more are fetched later), and of one batch when it is inflated (a larger one is poison).',
  ),
};
