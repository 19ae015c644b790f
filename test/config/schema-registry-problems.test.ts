import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/config/config.ts';
import { configRefusal } from '../support/config-refusal.ts';

const URL = 'https://registry:8081';

describe('readConfig, of the schema registry', () => {
  const refused: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
    [
      { SCHEMA_REGISTRY_URL: 'registry:8081' },
      'SCHEMA_REGISTRY_URL: expected http:// or https:// URLs, separated by commas, with user and password percent-encoded, got a value that may hold a password and is not shown',
    ],
    [
      { SCHEMA_REGISTRY_TOKEN_PROVIDER: './token.js' },
      'SCHEMA_REGISTRY_URL: expected with SCHEMA_REGISTRY_TOKEN_PROVIDER, got none',
    ],
    [
      { SCHEMA_REGISTRY_URL: 'https://bob:y@registry', SCHEMA_REGISTRY_TOKEN_PROVIDER: './token.js' },
      'SCHEMA_REGISTRY_TOKEN_PROVIDER: expected none, because SCHEMA_REGISTRY_URL has a user or a password, got one',
    ],
    [
      { SCHEMA_REGISTRY_URL: 'https://:y@registry', SCHEMA_REGISTRY_TOKEN_PROVIDER: './token.js' },
      'SCHEMA_REGISTRY_TOKEN_PROVIDER: expected none, because SCHEMA_REGISTRY_URL has a user or a password, got one',
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

  // Without an escape, the secret ends the host's name, so that another host would be asked.
  const unencoded = [
    'https://APIKEY:/sEcReT+abc@registry',
    'https://KEY:8/sEcReT@registry',
    'https://KEY:sEc/ReT@registry',
    'https://user:?sEcReT@registry',
    'https://user:8#sEcReT@registry',
    'https://user:8\\sEcReT@registry',
    'https://KEY:8/sEc,ReT@registry',
    'https://user:sEc%ReT@registry',
    'https://us%er:sEcReT@registry',
    'https://user:sEcReT%FF@registry',
  ];
  for (const url of unencoded) {
    it(`asks for percent-encoding and shows nothing of ${url}`, () => {
      const message = configRefusal({ SCHEMA_REGISTRY_URL: url });
      assert.match(message, /^SCHEMA_REGISTRY_URL: expected .* with user and password percent-encoded, got a value /);
      assert.doesNotMatch(message, /sEc|ReT|key/i);
    });
  }

  it('takes user and password that are percent-encoded, or either of them', () => {
    const urls = ['https://KEY:%2FsEc%25@registry/%40scope', 'https://:y@registry', 'https://bob@registry'];
    assert.deepEqual(readConfig({ SCHEMA_REGISTRY_URL: urls.join() }).SCHEMA_REGISTRY_URL, urls);
  });

  it('takes several URLs, each with a user of its own or without', () => {
    const urls = [URL, 'http://bob:y@b/v7'];
    assert.deepEqual(readConfig({ SCHEMA_REGISTRY_URL: urls.join(', ') }).SCHEMA_REGISTRY_URL, urls);
  });
});
