import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/config/config.ts';
import { configRefusal } from '../support/config-refusal.ts';

const URL = 'https://registry:8081';

describe('readConfig, of the schema registry', () => {
  const refused: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
    [
      { SCHEMA_REGISTRY_URL: 'registry:8081' },
      'SCHEMA_REGISTRY_URL: expected http:// or https:// URLs, separated by commas, got a value that may hold a password and is not shown',
    ],
    [
      { SCHEMA_REGISTRY_TOKEN_PROVIDER: './token.js' },
      'SCHEMA_REGISTRY_URL: expected with SCHEMA_REGISTRY_TOKEN_PROVIDER, got none',
    ],
    [
      { SCHEMA_REGISTRY_URL: 'https://bob:y@registry', SCHEMA_REGISTRY_TOKEN_PROVIDER: './token.js' },
      'SCHEMA_REGISTRY_TOKEN_PROVIDER: expected none, because SCHEMA_REGISTRY_URL has a user, got one',
    ],
    [{ SCHEMA_REGISTRY_HEADERS: 'a=b' }, 'SCHEMA_REGISTRY_URL: expected with SCHEMA_REGISTRY_HEADERS, got none'],
    [
      { SCHEMA_REGISTRY_URL: URL, SCHEMA_REGISTRY_HEADERS: 'a=b, secret' },
      'SCHEMA_REGISTRY_HEADERS: expected name=value, separated by commas, got a value that may hold a password and is not shown',
    ],
    [
      { SCHEMA_REGISTRY_URL: URL, SCHEMA_REGISTRY_HEADERS: 'Authorization=Bearer x' },
      'SCHEMA_REGISTRY_HEADERS: expected no Authorization, which crier sends; set a user in SCHEMA_REGISTRY_URL, or SCHEMA_REGISTRY_TOKEN_PROVIDER, for the authorization',
    ],
    [
      { SCHEMA_REGISTRY_URL: URL, SCHEMA_REGISTRY_TLS_CERT_FILE: 'client.pem' },
      'SCHEMA_REGISTRY_TLS_CERT_FILE and SCHEMA_REGISTRY_TLS_KEY_FILE: expected both or none',
    ],
  ];
  for (const [environment, message] of refused) {
    it(`refuses ${JSON.stringify(environment)}`, () => assert.equal(configRefusal(environment), message));
  }

  it('takes several URLs, each with a user of its own or without', () => {
    const urls = [URL, 'http://bob:y@b/v7'];
    assert.deepEqual(readConfig({ SCHEMA_REGISTRY_URL: urls.join(', ') }).SCHEMA_REGISTRY_URL, urls);
  });
});
