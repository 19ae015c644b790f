import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { createAuthority, encryptKey, issue } from '../../stack/certificates.ts';
import type { KeyPair } from '../../stack/certificates.ts';
import { readConfig } from '../../src/config/config.ts';
import { kafkaWarnings } from '../../src/config/kafka-problems.ts';
import { configRefusal } from '../support/config-refusal.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SERVERS = { KAFKA_BROKERS: 'kafka:9092', REDIS_URL: 'redis://redis' };
const LOGIN = { KAFKA_SASL_USERNAME: 'crier', KAFKA_SASL_PASSWORD: 'hunter2' };

describe('settings of the connection to Kafka', () => {
  let authority: KeyPair;
  let client: KeyPair;
  before(async () => {
    authority = await createAuthority();
    client = await issue(authority, ['crier']);
  });

  type Files = Readonly<Record<string, string | undefined>>;

  const cases: readonly (readonly [
    what: string,
    files: () => Files,
    settings: Readonly<Record<string, string>>,
    expected: RegExp | undefined,
  ])[] = [
    [
      'an authority and a pair',
      () => ({ CA: authority.certificate, CERT: client.certificate, KEY: client.key }),
      { KAFKA_TLS: 'true' },
      undefined,
    ],
    [
      'an encrypted key with its passphrase',
      () => ({ CERT: client.certificate, KEY: encryptKey(client, 'hunter2') }),
      { KAFKA_TLS: 'true', KAFKA_TLS_KEY_PASSPHRASE: 'hunter2' },
      undefined,
    ],
    [
      'files without TLS',
      () => ({ CA: authority.certificate }),
      {},
      /^KAFKA_TLS: expected true with KAFKA_TLS_CA_FILE/,
    ],
    [
      'a certificate without a key',
      () => ({ CERT: client.certificate }),
      { KAFKA_TLS: 'true' },
      /^KAFKA_TLS_KEY_FILE: expected with KAFKA_TLS_CERT_FILE, got none$/,
    ],
    [
      'a key without a certificate',
      () => ({ KEY: client.key }),
      { KAFKA_TLS: 'true' },
      /^KAFKA_TLS_CERT_FILE: expected with KAFKA_TLS_KEY_FILE, got none$/,
    ],
    [
      'a passphrase without a key',
      () => ({}),
      { KAFKA_TLS: 'true', KAFKA_TLS_KEY_PASSPHRASE: 'hunter2' },
      /^KAFKA_TLS_KEY_FILE: expected with KAFKA_TLS_KEY_PASSPHRASE, got none$/,
    ],
    [
      'a key of another certificate',
      () => ({ CERT: client.certificate, KEY: authority.key }),
      { KAFKA_TLS: 'true' },
      /^KAFKA_TLS_KEY_FILE: expected a PEM file of a private key at ".*", but it does not belong to the first certificate in KAFKA_TLS_CERT_FILE/,
    ],
    [
      'an encrypted key without a passphrase',
      () => ({ CERT: client.certificate, KEY: encryptKey(client, 'hunter2') }),
      { KAFKA_TLS: 'true' },
      /but it is encrypted: set KAFKA_TLS_KEY_PASSPHRASE$/,
    ],
    [
      'an encrypted key with another passphrase',
      () => ({ CERT: client.certificate, KEY: encryptKey(client, 'hunter2') }),
      { KAFKA_TLS: 'true', KAFKA_TLS_KEY_PASSPHRASE: 'hunter3' },
      /but KAFKA_TLS_KEY_PASSPHRASE does not open it$/,
    ],
    [
      'a file that is missing',
      () => ({ CA: undefined }),
      { KAFKA_TLS: 'true' },
      /^KAFKA_TLS_CA_FILE: expected a PEM file of certificates at ".*", but it does not exist$/,
    ],
    ['a file that is no PEM', () => ({ CA: 'hunter2' }), { KAFKA_TLS: 'true' }, /^KAFKA_TLS_CA_FILE: .* holds none/],
    [
      'a key in place of a certificate',
      () => ({ CERT: client.key, KEY: client.key }),
      { KAFKA_TLS: 'true' },
      /^KAFKA_TLS_CERT_FILE: .* holds none that can be read$/,
    ],
    ['a mechanism without a user', () => ({}), { KAFKA_SASL_MECHANISM: 'plain' }, /^KAFKA_SASL_USERNAME and /],
    ['a user without a mechanism', () => ({}), LOGIN, /^KAFKA_SASL_MECHANISM: expected .* with KAFKA_SASL_USERNAME/],
    [
      'tokens without a provider',
      () => ({}),
      { KAFKA_SASL_MECHANISM: 'oauthbearer' },
      /^KAFKA_SASL_TOKEN_PROVIDER: expected with KAFKA_SASL_MECHANISM=oauthbearer, got none$/,
    ],
    [
      'tokens and a password',
      () => ({}),
      { KAFKA_SASL_MECHANISM: 'oauthbearer', ...LOGIN },
      /^KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD: expected none/,
    ],
    [
      'a provider that is missing',
      () => ({}),
      { KAFKA_SASL_MECHANISM: 'oauthbearer', KAFKA_SASL_TOKEN_PROVIDER: '/none.mjs' },
      /^KAFKA_SASL_TOKEN_PROVIDER: .* "\/none\.mjs" does not exist$/,
    ],
    [
      'a provider beside a password',
      () => ({}),
      { KAFKA_SASL_MECHANISM: 'plain', ...LOGIN, KAFKA_SASL_TOKEN_PROVIDER: '/none.mjs' },
      /^KAFKA_SASL_TOKEN_PROVIDER: expected with KAFKA_SASL_MECHANISM=oauthbearer, got plain$/,
    ],
  ];
  for (const [what, filesOf, settings, expected] of cases) {
    it(`${expected ? 'are refused' : 'are accepted'}: ${what}`, async (t) => {
      const folder = await temporaryFolder(t);
      const environment: Record<string, string> = { ...SERVERS, ...settings };
      for (const [name, content] of Object.entries(filesOf())) {
        const path = join(folder, name);
        if (content !== undefined) await writeFile(path, content);
        environment[`KAFKA_TLS_${name}_FILE`] = path;
      }
      if (!expected) return void readConfig(environment);
      const message = configRefusal(environment);
      assert.match(message, expected);
      assert.doesNotMatch(message, /hunter|BEGIN/);
    });
  }

  it('warn of a password or a token that is sent unencrypted', () => {
    const warnings = (settings: Readonly<Record<string, string>>) =>
      kafkaWarnings(readConfig({ ...SERVERS, ...settings }));
    assert.match(
      warnings({ KAFKA_SASL_MECHANISM: 'plain', ...LOGIN })[0]!,
      /sends the password unencrypted without TLS: set KAFKA_TLS=true/,
    );
    assert.deepEqual(warnings({ KAFKA_SASL_MECHANISM: 'plain', ...LOGIN, KAFKA_TLS: 'true' }), []);
    assert.deepEqual(warnings({ KAFKA_SASL_MECHANISM: 'scram-sha-256', ...LOGIN }), []);
  });
});
