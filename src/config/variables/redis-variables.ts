import { secret, text } from '../variable.ts';

export const redisVariables = {
  REDIS_URL: secret(
    text(
      '',
      'redis://host:6379, redis+sentinel://host:26379,host:26379/name or redis+cluster://host:6379,host:6379 (rediss… for TLS)',
      'Redis: a server, Sentinels or a Redis Cluster; not set: `EMBEDDED`.',
    ),
  ),
  REDIS_USERNAME: text('', 'a user name', 'ACL user of Redis, if `REDIS_URL` names none.'),
  REDIS_PASSWORD: secret(
    text('', 'a password', 'Password of Redis, if `REDIS_URL` has none. The file is read again when it changes.'),
  ),
  REDIS_CREDENTIALS: text(
    '',
    'a path of a module',
    'JavaScript module whose default export returns a password or token of Redis, called again before it expires.',
  ),
  REDIS_TLS_CA_FILE: text(
    '',
    'a path of a PEM file',
    'Only these authorities may have signed the certificate of Redis. Read again when it changes, as the next two are.',
  ),
  REDIS_TLS_CERT_FILE: text(
    '',
    'a path of a PEM file',
    'Client certificate, with its chain, that crier shows to Redis.',
  ),
  REDIS_TLS_KEY_FILE: text('', 'a path of a PEM file', 'Private key of that certificate.'),
  REDIS_TLS_KEY_PASSPHRASE: secret(text('', 'a passphrase', 'Passphrase of that key, if it is encrypted.')),
  CHANNEL_PREFIX: text('crier:', 'any text', "First part of every channel's name."),
  CURSOR_SECRET: secret(
    text(
      '',
      'at least 32 bytes',
      'Signs cursors; at least 32 bytes, the same on every pod; not set: a random one that the pods share through Redis.',
    ),
  ),
};
