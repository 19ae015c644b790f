import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CertificateAuthority } from '../../../stack/certificate-files.ts';
import { RedisAccess } from '../../../src/bus/redis/redis-access.ts';
import { checkRedis, serverFinding } from '../../../src/ops/check/redis-check.ts';
import { readConfig } from '../../../src/config/config.ts';
import { createLog } from '../../../src/base/log.ts';
import { redisServer } from '../../support/services.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** What Redis replies to HELLO. */
const hello = (version: string) => ['server', 'redis', 'version', version, 'proto', 2, 'mode', 'standalone'];

describe('serverFinding', () => {
  for (const version of ['6.0.16', '6.1.0']) {
    it(`refuses Redis ${version} and names the oldest version that crier can use`, () => {
      assert.deepEqual(serverFinding('redis:6379', hello(version)), {
        status: 'failed',
        text: `Redis: redis:6379 has version ${version}; use 6.2 or later`,
      });
    });
  }

  for (const version of ['6.2.0', '7.0.15', '10.0.1']) {
    it(`accepts Redis ${version}`, () => {
      assert.deepEqual(serverFinding('redis:6379', hello(version)), {
        status: 'ok',
        text: `Redis: connected to redis:6379, version ${version}`,
      });
    });
  }

  it('refuses a replica', () => {
    assert.deepEqual(serverFinding('redis:6379', [...hello('7.0.15'), 'role', 'replica']), {
      status: 'failed',
      text: 'Redis: redis:6379 is a replica; REDIS_URL must lead to the primary',
    });
  });

  it('accepts a server that refuses HELLO, whose version is unknown', () => {
    assert.deepEqual(serverFinding('redis:6379', []), { status: 'ok', text: 'Redis: connected to redis:6379' });
  });
});

describe('checkRedis', () => {
  it('names REDIS_TLS_CA_FILE for a certificate of an unknown authority, and connects when it is set', async (t) => {
    const folder = await temporaryFolder(t);
    const authority = await CertificateAuthority.create(folder, 'authority');
    const tls = { server: await authority.issue('redis'), authority: authority.certificate };
    const { tlsUrl } = await redisServer(t, { tls });
    const settings = { KAFKA_BROKERS: '127.0.0.1:1', REDIS_URL: tlsUrl };
    const findingsOf = async (further: Readonly<Record<string, string>>) =>
      checkRedis(
        tlsUrl,
        'crier:',
        await RedisAccess.open(readConfig({ ...settings, ...further }), createLog('silent')),
      );
    const [refused] = await findingsOf({});
    assert.match(refused!.text, /; if the authority .*, name the PEM file of .* in REDIS_TLS_CA_FILE$/);
    const statuses = (await findingsOf({ REDIS_TLS_CA_FILE: authority.certificate })).map(({ status }) => status);
    assert.deepEqual(statuses, ['ok', 'ok']);
  });
});
