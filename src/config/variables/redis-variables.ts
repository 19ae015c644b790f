import { secret, text } from '../variable.ts';

export const redisVariables = {
  REDIS_URL: secret(
    text(
      '',
      'redis://host:6379, redis+sentinel://host:26379,host:26379/name or redis+cluster://host:6379,host:6379 (rediss… for TLS)',
      'Server, Sentinels or Redis Cluster; not set: `EMBEDDED`.',
    ),
  ),
  REDIS_USERNAME: text('', 'a user name', 'ACL user, if `REDIS_URL` names none.'),
  REDIS_PASSWORD: secret(
    text('', 'a password', 'Password, if `REDIS_URL` has none; its file is read again when it changes.'),
  ),
  REDIS_CREDENTIALS: text(
    '',
    'a path of a module',
    'Module whose default export returns a password or token, called again before it expires.',
  ),
  REDIS_TLS_CA_FILE: text(
    '',
    'a path of a PEM file',
    'PEM file of the only authorities that the certificate of Redis may be from; read again when it changes.',
  ),
  REDIS_TLS_CERT_FILE: text(
    '',
    'a path of a PEM file',
    'PEM file of the client certificate, with its chain; read again when it changes.',
  ),
  REDIS_TLS_KEY_FILE: text(
    '',
    'a path of a PEM file',
    "PEM file of the certificate's private key; read again when it changes.",
  ),
  REDIS_TLS_KEY_PASSPHRASE: secret(text('', 'a passphrase', 'Passphrase of the private key, if it is encrypted.')),
  CHANNEL_PREFIX: text('crier:', 'any text', "First part of every channel's name."),
};
