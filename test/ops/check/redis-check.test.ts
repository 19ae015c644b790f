import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
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

  it('names what to correct where the server is another one, or refuses', async (t) => {
    const folder = await temporaryFolder(t);
    const authority = await CertificateAuthority.create(folder, 'authority');
    const tls = { server: await authority.issue('redis'), authority: authority.certificate };
    const [plain, full, secure] = await Promise.all([
      redisServer(t),
      redisServer(t, { flags: ['--maxmemory', '1', '--maxmemory-policy', 'noeviction'] }),
      redisServer(t, { tls }),
    ]);
    const other = createServer((socket) => socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    t.after(() => void other.close());
    await once(other.listen(0, '127.0.0.1'), 'listening');
    const http = `redis://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const cases = [
      [
        `${plain.url}/99`,
        /ERR DB index is out of range; the server has no such database: correct its number in REDIS_URL$/,
      ],
      [plain.url.replace('redis', 'rediss'), /; this server does not use TLS: write redis:\/\/ in REDIS_URL$/],
      [secure.tlsUrl.replace('rediss', 'redis'), /; this server uses TLS: write rediss:\/\/ in REDIS_URL$/],
      [
        http,
        /Protocol error, got "H" as reply type byte\.; no Redis answers there: correct host and port in REDIS_URL$/,
      ],
      [
        plain.url.replace('//', '//joe:no@'),
        /WRONGPASS .*; correct REDIS_USERNAME and REDIS_PASSWORD, or those in REDIS_URL$/,
      ],
      [full.url, /refuses set, .*: OOM .*; raise its maxmemory, with maxmemory-policy noeviction$/],
      [
        `${plain.url.replace('redis:', 'redis+sentinel:')}/primary`,
        /; no Sentinel is there: write redis:\/\/ before a server in REDIS_URL$/,
      ],
    ] as const;
    for (const [url, expected] of cases) {
      const failures = (await checkRedis(url, 'crier:', undefined)).filter(({ status }) => status === 'failed');
      assert.equal(failures.length, 1, JSON.stringify(failures));
      assert.match(failures[0]!.text, expected);
    }
  });

  it('names all rights that are missing, also without that to PING', async (t) => {
    const { url } = await redisServer(t, { flags: ['--user', 'app', 'on', '>pw', '~*', '&*', '+get'] });
    const [, rights] = await checkRedis(url.replace('//', '//app:pw@'), 'crier:', undefined);
    assert.match(
      rights!.text,
      /refuses commands that crier needs: ping \(NOPERM.*; grant them with ACL SETUSER: \+ping \+publish /,
    );
  });
});
