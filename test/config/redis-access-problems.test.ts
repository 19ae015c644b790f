import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/config/config.ts';
import { configRefusal } from '../support/config-refusal.ts';

const BROKERS = { KAFKA_BROKERS: 'kafka:9092' };
const PLAIN = { ...BROKERS, REDIS_URL: 'redis://redis' };
const TLS = { ...BROKERS, REDIS_URL: 'rediss://redis' };
const WITH_LOGIN = { ...BROKERS, REDIS_URL: 'rediss://ann:x@redis' };

describe('readConfig, of the access to Redis', () => {
  const refused: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
    [{ REDIS_PASSWORD: 'x' }, 'REDIS_URL: expected with REDIS_PASSWORD, got none'],
    [{ REDIS_TLS_CA_FILE: 'ca.pem' }, 'REDIS_URL: expected with REDIS_TLS_CA_FILE, got none'],
    [
      { ...PLAIN, REDIS_USERNAME: 'ann' },
      'REDIS_PASSWORD or REDIS_CREDENTIALS: expected one of them with REDIS_USERNAME, got none',
    ],
    [
      { ...PLAIN, REDIS_PASSWORD: 'x', REDIS_CREDENTIALS: './token.js' },
      'REDIS_PASSWORD and REDIS_CREDENTIALS: expected one of them, got both; unset one',
    ],
    [
      { ...WITH_LOGIN, REDIS_USERNAME: 'ann', REDIS_PASSWORD: 'x' },
      'REDIS_USERNAME and REDIS_PASSWORD: expected none, because REDIS_URL has a user or a password; remove it from the URL',
    ],
    [
      { ...WITH_LOGIN, REDIS_CREDENTIALS: './token.js' },
      'REDIS_CREDENTIALS: expected none, because REDIS_URL has a user or a password; remove it from the URL',
    ],
    [{ ...TLS, REDIS_TLS_CERT_FILE: 'crier.pem' }, 'REDIS_TLS_CERT_FILE and REDIS_TLS_KEY_FILE: expected both or none'],
    [{ ...TLS, REDIS_TLS_KEY_PASSPHRASE: 'x' }, 'REDIS_TLS_KEY_FILE: expected with REDIS_TLS_KEY_PASSPHRASE, got none'],
    [
      { ...PLAIN, REDIS_TLS_CA_FILE: 'ca.pem' },
      'REDIS_URL: expected rediss:// with REDIS_TLS_CA_FILE, got a URL without TLS',
    ],
  ];
  for (const [environment, message] of refused) {
    it(`refuses ${JSON.stringify(environment)}`, () => assert.equal(configRefusal(environment), message));
  }

  const accepted: readonly Readonly<Record<string, string>>[] = [
    WITH_LOGIN,
    { ...WITH_LOGIN, REDIS_TLS_CA_FILE: 'ca.pem' },
    { ...PLAIN, REDIS_PASSWORD: 'x' },
    { ...PLAIN, REDIS_USERNAME: 'ann', REDIS_CREDENTIALS: './token.js' },
    { ...TLS, REDIS_TLS_CERT_FILE: 'a.pem', REDIS_TLS_KEY_FILE: 'a.key', REDIS_TLS_KEY_PASSPHRASE: 'x' },
  ];
  for (const environment of accepted) {
    it(`accepts ${JSON.stringify(environment)}`, () => assert.doesNotThrow(() => readConfig(environment)));
  }
});
