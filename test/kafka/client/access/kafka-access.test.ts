import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { createAuthority, encryptKey, issue } from '../../../../stack/certificates.ts';
import type { KeyPair } from '../../../../stack/certificates.ts';
import { diagnose, reasonOf } from '../../../../src/kafka/client/access/connection-fix.ts';
import { createKafkaClient } from '../../../../src/kafka/client/kafka-client.ts';
import { Cluster } from '../../../../src/kafka/client/cluster.ts';
import { PASSWORD, RotatingKafka, USER, replaceFile, unsecuredToken } from '../../../support/rotating-kafka.ts';
import { testConfig } from '../../../support/switches.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { readableLog } from '../../consumer-harness.ts';

/** kafkajs logs in again 10 s before a session ends, so every 2 s. */
const MAX_REAUTH_MS = 12_000;
const OTHER_PASSWORD = 'hunter3';
const PASSPHRASE = 'hunter4';

type Listener = 'plain' | 'mutual' | 'saslTls' | 'sasl';

describe('a Kafka with TLS and SASL', () => {
  let kafka: RotatingKafka;
  let client: KeyPair;
  let foreign: KeyPair;
  const stops: (() => unknown)[] = [];
  before(async () => {
    const scope = { after: (stop: () => unknown) => void stops.unshift(stop) };
    kafka = await RotatingKafka.start(scope, { maxReauthMs: MAX_REAUTH_MS });
    client = await issue(kafka.authority, ['crier']);
    foreign = await createAuthority('another-authority');
  });
  after(async () => {
    for (const stop of stops) await stop();
  });

  /** The files of one test, and the settings that name them. */
  async function filesOf(t: TestContext) {
    const folder = await temporaryFolder(t);
    const at = (name: string) => join(folder, name);
    await writeFile(at('ca.pem'), kafka.authority.certificate);
    await writeFile(at('cert.pem'), client.certificate);
    await writeFile(at('key.pem'), client.key);
    await writeFile(at('password'), `${PASSWORD}\n`);
    const tls = { KAFKA_TLS: 'true', KAFKA_TLS_CA_FILE: at('ca.pem') };
    const pair = { KAFKA_TLS_CERT_FILE: at('cert.pem'), KAFKA_TLS_KEY_FILE: at('key.pem') };
    const login = (mechanism: string) => ({
      KAFKA_SASL_MECHANISM: mechanism,
      KAFKA_SASL_USERNAME: USER,
      KAFKA_SASL_PASSWORD_FILE: at('password'),
    });
    return { at, tls, pair, login };
  }

  /** A module whose tokens a test replaces. */
  async function providerOf(t: TestContext, code: string) {
    const path = join(await temporaryFolder(t), 'token.mjs');
    await writeFile(path, `let calls = 0;\n${code}`);
    return { KAFKA_SASL_MECHANISM: 'oauthbearer', KAFKA_SASL_TOKEN_PROVIDER: path };
  }

  function connect(t: TestContext, listener: Listener, settings: Readonly<Record<string, string>>) {
    const { log, lines } = readableLog();
    const config = testConfig({ KAFKA_BROKERS: kafka[listener], REDIS_URL: 'redis://127.0.0.1:1', ...settings });
    const cluster = new Cluster(() => createKafkaClient(config, log));
    t.after(() => {
      cluster.close();
      assert.doesNotMatch(lines.join(''), /hunter|BEGIN|eyJ/);
    });
    return { config, lines, isConnected: async () => (await cluster.existingTopics(['none'])).length === 0 };
  }

  /** Why the brokers refuse, and the fix. */
  async function refusal(t: TestContext, listener: Listener, settings: Readonly<Record<string, string>>) {
    const { config, isConnected } = connect(t, listener, settings);
    const error = await isConnected().then(
      () => assert.fail('it is connected'),
      (thrown: unknown) => thrown,
    );
    const text = `${reasonOf(error)}; ${await diagnose(error, config)}`;
    assert.doesNotMatch(text, /hunter|BEGIN|eyJ/);
    return text;
  }

  it('accepts a client certificate of its own authority, also with an encrypted key', async (t) => {
    const { at, tls, pair } = await filesOf(t);
    assert.ok(await connect(t, 'mutual', { ...tls, ...pair }).isConnected());
    await writeFile(at('key.pem'), encryptKey(client, PASSPHRASE));
    assert.ok(await connect(t, 'mutual', { ...tls, ...pair, KAFKA_TLS_KEY_PASSPHRASE: PASSPHRASE }).isConnected());
  });

  for (const mechanism of ['plain', 'scram-sha-256', 'scram-sha-512']) {
    it(`accepts a user with ${mechanism}`, async (t) => {
      const { tls, login } = await filesOf(t);
      assert.ok(await connect(t, 'saslTls', { ...tls, ...login(mechanism) }).isConnected());
    });
  }

  it('accepts the token of a module, and asks the module again before the token expires, on the same connection', async (t) => {
    const { tls } = await filesOf(t);
    const counts = `calls${Date.now()}`;
    const settings = await providerOf(
      t,
      `export default () => {
        globalThis.${counts} = ++calls;
        const exp = Date.now() + 12_000;
        const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
        const claims = { sub: 'crier', iat: Math.floor(Date.now() / 1000), exp: exp / 1000 };
        return { value: part({ alg: 'none' }) + '.' + part(claims) + '.', expiresAt: new Date(exp) };
      };`,
    );
    const { isConnected, lines } = connect(t, 'saslTls', { ...tls, ...settings });
    const calls = () => (globalThis as unknown as Record<string, number>)[counts] ?? 0;
    await waitFor('a second token', async () => (await isConnected()) && calls() > 1, 30_000);
    assert.doesNotMatch(lines.join(''), /failed|closed/i);
  });

  const refusals: readonly (readonly [
    what: string,
    Listener,
    (
      files: Awaited<ReturnType<typeof filesOf>>,
      t: TestContext,
    ) => Promise<Record<string, string>> | Record<string, string>,
    RegExp,
  ])[] = [
    [
      'an authority that is not trusted',
      'mutual',
      ({ pair }) => ({ KAFKA_TLS: 'true', ...pair }),
      /certificate.*; if the authority .* name the PEM file of the authority in KAFKA_TLS_CA_FILE$/,
    ],
    [
      'no client certificate where one is expected',
      'mutual',
      ({ tls }) => tls,
      /; this listener expects a client certificate: set KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE$/,
    ],
    [
      'a client certificate of another authority',
      'mutual',
      async ({ tls, pair, at }) => {
        const other = await issue(foreign, ['crier']);
        await writeFile(at('cert.pem'), other.certificate);
        await writeFile(at('key.pem'), other.key);
        return { ...tls, ...pair };
      },
      /; the brokers refuse the client certificate: /,
    ],
    [
      'no TLS where it is expected',
      'saslTls',
      ({ login }) => login('plain'),
      /; this listener uses TLS: set KAFKA_TLS=true/,
    ],
    [
      'TLS where it is not expected',
      'sasl',
      ({ tls, login }) => ({ ...tls, ...login('plain') }),
      /does not use TLS: unset KAFKA_TLS/,
    ],
    [
      'a password that is wrong',
      'saslTls',
      async ({ tls, login, at }) => {
        await writeFile(at('password'), OTHER_PASSWORD);
        return { ...tls, ...login('scram-sha-256') };
      },
      /^SASL SCRAM SHA256 authentication failed: .*; correct KAFKA_SASL_USERNAME or KAFKA_SASL_PASSWORD$/,
    ],
    [
      'a token that has expired',
      'saslTls',
      async ({ tls }, t) => ({
        ...tls,
        ...(await providerOf(t, `export default () => ({ value: '${unsecuredToken(-60_000).value}' });`)),
      }),
      /^SASL OAUTHBEARER authentication failed: .*invalid_token.*; correct KAFKA_SASL_TOKEN_PROVIDER$/,
    ],
    [
      'a token provider that throws',
      'saslTls',
      async ({ tls }, t) => ({
        ...tls,
        ...(await providerOf(t, `export default () => { throw new Error('no metadata'); };`)),
      }),
      /^SASL OAUTHBEARER authentication failed: the token provider failed: no metadata; correct KAFKA_SASL_TOKEN_PROVIDER$/,
    ],
  ];
  for (const [what, listener, settingsOf, expected] of refusals) {
    it(`names the cause and the fix: ${what}`, async (t) => {
      assert.match(await refusal(t, listener, await settingsOf(await filesOf(t), t)), expected);
    });
  }

  it('asks for the login again, which fails after the password was replaced, until the file has it', async (t) => {
    const { at, tls, login } = await filesOf(t);
    const { isConnected } = connect(t, 'saslTls', { ...tls, ...login('scram-sha-512') });
    assert.ok(await isConnected());
    await kafka.replacePassword(OTHER_PASSWORD);
    t.after(() => kafka.replacePassword(PASSWORD));
    const isRefused = () =>
      isConnected().then(
        () => false,
        (error: Error) => /^SASL SCRAM .* failed/.test(error.message),
      );
    await waitFor('a refused login', isRefused, 30_000);
    await replaceFile(at('password'), OTHER_PASSWORD);
    assert.ok(await isConnected());
  });

  it('gives a new connection the authority, the certificate and the key that the files have now', async (t) => {
    const { at, tls, pair } = await filesOf(t);
    const settings = { ...tls, ...pair };
    const first = connect(t, 'mutual', settings);
    assert.ok(await first.isConnected());
    await kafka.replaceCertificate(foreign);
    t.after(() => kafka.replaceCertificate(kafka.authority));
    const next = connect(t, 'mutual', settings);
    await assert.rejects(next.isConnected(), /certificate/);
    await replaceFile(at('ca.pem'), kafka.authority.certificate + foreign.certificate);
    assert.ok(await next.isConnected());
  });

  it('goes on with the former pair while a certificate is replaced and its key is not', async (t) => {
    const { at, tls, pair } = await filesOf(t);
    const { config } = connect(t, 'mutual', { ...tls, ...pair });
    const { log, lines } = readableLog();
    const connectAnew = async () => {
      const cluster = new Cluster(() => createKafkaClient(config, log));
      await cluster.existingTopics([]).finally(() => cluster.close());
    };
    await connectAnew();
    await replaceFile(at('cert.pem'), (await issue(kafka.authority, ['crier'])).certificate);
    await connectAnew();
    assert.match(lines.join(''), /"KAFKA_TLS_KEY_FILE: expected .* it does not belong to the first certificate/s);
    assert.match(lines.join(''), /the TLS files cannot be used; new connections use the former ones/);
  });
});
