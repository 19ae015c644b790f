import assert from 'node:assert/strict';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Redis } from 'ioredis';
import { CertificateAuthority } from '../../../stack/certificate-files.ts';
import { REDIS_HAS_TLS } from '../../../stack/redis-program.ts';
import type { RedisServer } from '../../../stack/redis-server.ts';
import { RedisAccess } from '../../../src/bus/redis/redis-access.ts';
import { RedisBus } from '../../../src/bus/redis/redis-bus.ts';
import { checkRedis } from '../../../src/ops/check/redis-check.ts';
import { readConfig } from '../../../src/config/config.ts';
import { ConfigError } from '../../../src/base/errors.ts';
import { createLog } from '../../../src/base/log.ts';
import { publisherOf } from '../../support/partition-publisher.ts';
import { redisCluster, redisServer } from '../../support/services.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitFor } from '../../support/wait-for.ts';
import { withRedis } from '../../support/with-redis.ts';
import { logLines } from '../log-lines.ts';

/** A promise that never settles fails its suite. Its tests wait most of the time. */
const HANGS_FAIL = { timeout: 120_000, concurrency: 8 };
const PASSWORD = 'hunter2';
const NEXT_PASSWORD = 'hunter3';

interface BusOptions {
  readonly settings?: Readonly<Record<string, string>>;
  /** False: files and credentials are read once. */
  readonly isWatched?: boolean;
}

/** A started bus with the access of these settings. */
async function startBus(t: TestContext, url: string, { settings = {}, isWatched = true }: BusOptions = {}) {
  const { log, lines, text } = logLines();
  const config = readConfig({ KAFKA_BROKERS: '127.0.0.1:1', REDIS_URL: url, ...settings });
  const access = await RedisAccess.open(config, log);
  t.after(() => access.close());
  if (isWatched) access.watch();
  const gaps: (readonly string[])[] = [];
  let reconnects = 0;
  const observer = { onGap: (channels: readonly string[]) => gaps.push(channels), onReconnect: () => reconnects++ };
  const bus = new RedisBus({ url: config.REDIS_URL, log, access, observer, probeIntervalMs: 3_600_000 });
  t.after(() => bus.close());
  await bus.start();
  return { bus, lines, text, gaps, reconnects: () => reconnects };
}

/** Rejects if a message does not come back. */
async function expectDelivery(bus: RedisBus): Promise<void> {
  const heard: string[] = [];
  const listen = () =>
    bus.control.listen(
      'access',
      (text) => heard.push(text),
      () => undefined,
    );
  // A link that was cut may not be back yet.
  const unsubscribe = await waitFor('a channel', () => listen().catch(() => undefined));
  await waitFor('the message', async () => {
    await bus.control.send('access', 'hello').catch(() => undefined);
    return heard.length > 0;
  });
  unsubscribe();
}

/** A client of the default user, which may always connect. */
function adminOf(t: TestContext, { url }: RedisServer): Redis {
  const admin = new Redis(url);
  t.after(() => admin.disconnect());
  return admin;
}

/** A Redis with the user `app`, and the file of its password. */
async function serverWithPassword(t: TestContext) {
  const server = await redisServer(t);
  const admin = adminOf(t, server);
  await admin.call('ACL', 'SETUSER', 'app', 'on', `>${PASSWORD}`, '~*', '&*', '+@all');
  const file = join(await temporaryFolder(t), 'password');
  await writeFile(file, `${PASSWORD}\n`);
  return { server, admin, file, settings: { REDIS_USERNAME: 'app', REDIS_PASSWORD_FILE: file } };
}

/** A Redis with TLS, and an authority that signed its certificate. */
async function serverWithTls(t: TestContext, options: { readonly needsClientCertificate?: boolean } = {}) {
  const folder = await temporaryFolder(t);
  const authority = await CertificateAuthority.create(folder, 'authority');
  const tls = { server: await authority.issue('redis'), authority: authority.certificate, ...options };
  return { folder, authority, server: await redisServer(t, { tls }) };
}

/** Ends every link of the user `app`, or of all users, but the admin's own. */
async function cutLinks(admin: Redis): Promise<void> {
  await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
}

/** Id and user of each connection but the admin's own. */
async function connections(admin: Redis): Promise<{ id: string; user: string; isSubscriber: boolean }[]> {
  const own = await admin.client('ID');
  const list = (await admin.client('LIST')) as string;
  return list
    .trim()
    .split('\n')
    .map((line) => Object.fromEntries(line.split(' ').map((pair) => pair.split('='))) as Record<string, string>)
    .filter(({ id }) => id !== String(own))
    .map(({ id, user, sub }) => ({ id: id!, user: user!, isSubscriber: sub !== '0' }));
}

const describeTls = REDIS_HAS_TLS ? describe : () => undefined;

void describeTls('the access to a Redis with TLS', HANGS_FAIL, () => {
  it('trusts the authorities of REDIS_TLS_CA_FILE (twin: without it the certificate is refused)', async (t) => {
    const { server, authority } = await serverWithTls(t);
    const { bus } = await startBus(t, server.tlsUrl, { settings: { REDIS_TLS_CA_FILE: authority.certificate } });
    await expectDelivery(bus);
    const stranger = await startBus(t, server.tlsUrl);
    assert.equal(stranger.bus.isAvailable, false);
    assert.match(stranger.text(), /unable to verify the first certificate|self-signed certificate/);
  });

  it('trusts a node of a cluster by the name that it announces, where its certificate has no address (twin: it announces none)', async (t) => {
    const authority = await CertificateAuthority.create(await temporaryFolder(t), 'authority');
    const tls = { server: await authority.issue('node', { hosts: ['localhost'] }), authority: authority.certificate };
    const cluster = await redisCluster(t, { shards: 2, replicas: 0, tls });
    const url = cluster.tlsUrl.replaceAll('127.0.0.1', 'localhost');
    const settings = { REDIS_TLS_CA_FILE: authority.certificate };
    const config = readConfig({ KAFKA_BROKERS: '127.0.0.1:1', REDIS_URL: url, ...settings });
    const check = async () => checkRedis(url, 'crier:', await RedisAccess.open(config, createLog('silent')));
    const { bus, text } = await startBus(t, url, { settings });
    assert.equal(bus.isAvailable, false);
    assert.match(text(), /127\.0\.0\.1 is not in the cert's list/);
    const [refused] = await check();
    assert.match(refused!.text, /; set cluster-announce-hostname of this node to a name of its certificate$/);

    for (const node of cluster.primaries) {
      await withRedis(node, {}, (client) => client.config('SET', 'cluster-announce-hostname', 'localhost'));
    }
    await waitFor('the nodes', () => bus.isAvailable);
    await expectDelivery(bus);
    assert.deepEqual(new Set((await check()).map(({ status }) => status)), new Set(['ok']));
  });

  it('shows a client certificate, of an encrypted key too (twin: without it Redis refuses)', async (t) => {
    const { server, authority } = await serverWithTls(t, { needsClientCertificate: true });
    const trust = { REDIS_TLS_CA_FILE: authority.certificate };
    for (const passphrase of [undefined, 'open sesame']) {
      const client = await authority.issue(
        `client-${passphrase ?? ''}`,
        passphrase === undefined ? {} : { passphrase },
      );
      const { bus } = await startBus(t, server.tlsUrl, {
        settings: {
          ...trust,
          REDIS_TLS_CERT_FILE: client.certificate,
          REDIS_TLS_KEY_FILE: client.key,
          ...(passphrase !== undefined && { REDIS_TLS_KEY_PASSPHRASE: passphrase }),
        },
      });
      await expectDelivery(bus);
    }
    const stranger = await startBus(t, server.tlsUrl, { settings: trust });
    assert.equal(stranger.bus.isAvailable, false);
  });

  it('uses changed files for new links, and keeps the open ones (twin: files read once keep a link away)', async (t) => {
    const { server, authority, folder } = await serverWithTls(t);
    const admin = adminOf(t, server);
    const trusted = join(folder, 'trusted.pem');
    await copyFile(authority.certificate, trusted);
    const settings = { REDIS_TLS_CA_FILE: trusted };
    const [watched, once] = [
      await startBus(t, server.tlsUrl, { settings }),
      await startBus(t, server.tlsUrl, { settings, isWatched: false }),
    ];
    const before = await connections(admin);
    const next = await CertificateAuthority.create(folder, 'next');
    const { certificate, key } = await next.issue('redis');
    await writeFile(
      trusted,
      (await readFile(authority.certificate, 'utf8')) + (await readFile(next.certificate, 'utf8')),
    );
    await waitFor('the changed file', () => /the TLS files of Redis have changed/.test(watched.text()));
    await admin.call('CONFIG', 'SET', 'tls-cert-file', certificate, 'tls-key-file', key);
    assert.deepEqual(await connections(admin), before);
    await cutLinks(admin);
    await expectDelivery(watched.bus);
    await waitFor('the refusal', () => /unable to verify|self-signed/.test(once.text()));
    assert.equal(once.bus.isAvailable, false);
  });

  it('keeps the last good files when a file becomes bad, and says so', async (t) => {
    const { server, authority, folder } = await serverWithTls(t);
    const trusted = join(folder, 'trusted.pem');
    await copyFile(authority.certificate, trusted);
    const { bus, lines } = await startBus(t, server.tlsUrl, { settings: { REDIS_TLS_CA_FILE: trusted } });
    await writeFile(trusted, PASSWORD);
    const line = await waitFor('the warning', () => lines.find(({ msg }) => msg.includes('cannot be used')));
    assert.equal(line.msg, 'the TLS files of Redis cannot be used: the last good ones stay in use');
    assert.match(line.reason ?? '', /^REDIS_TLS_CA_FILE: expected a PEM file of certificates at .*, but it holds none/);
    await cutLinks(adminOf(t, server));
    await expectDelivery(bus);
  });
});

describe('the access to a Redis with a password', HANGS_FAIL, () => {
  it('uses user and password of the settings for every link', async (t) => {
    const { server, admin } = await serverWithPassword(t);
    const settings = { REDIS_USERNAME: 'app', REDIS_PASSWORD: PASSWORD };
    const { bus, text } = await startBus(t, server.url, { settings });
    await expectDelivery(bus);
    assert.deepEqual(
      (await connections(admin)).map(({ user }) => user),
      ['app', 'app'],
    );
    assert.doesNotMatch(text(), new RegExp(PASSWORD));
  });

  it('uses a changed file for open links and for new ones (twin: a file read once keeps a link away)', async (t) => {
    const { server, admin, file, settings } = await serverWithPassword(t);
    const [watched, once] = [
      await startBus(t, server.url, { settings }),
      await startBus(t, server.url, { settings, isWatched: false }),
    ];
    const before = await connections(admin);
    const authentications = await callsOf(admin, 'auth');
    await admin.call('ACL', 'SETUSER', 'app', `>${NEXT_PASSWORD}`);
    await writeFile(file, NEXT_PASSWORD);
    await waitFor('AUTH on both links', async () => (await callsOf(admin, 'auth')) >= authentications + 2);
    // The subscriber link is another one, all others are the same.
    const isOfBefore = ({ id }: { id: string }) => before.some((each) => each.id === id);
    await waitFor('the end of the replaced link', async () => {
      const after = await connections(admin);
      return after.length === before.length && after.filter(isOfBefore).length === before.length - 1;
    });
    assert.deepEqual([watched.bus.isAvailable, watched.reconnects()], [true, 0]);
    await admin.call('ACL', 'SETUSER', 'app', `<${PASSWORD}`);
    await cutLinks(admin);
    await expectDelivery(watched.bus);
    await waitFor('the refusal', () => /WRONGPASS/.test(once.text()));
    assert.equal(once.bus.isAvailable, false);
    assert.doesNotMatch(watched.text() + once.text(), /hunter/);
  });

  it('keeps an open link whose new password Redis refuses, and says so without the password', async (t) => {
    const { server, admin, file, settings } = await serverWithPassword(t);
    const { bus, lines, text } = await startBus(t, server.url, { settings });
    const before = await connections(admin);
    await writeFile(file, NEXT_PASSWORD);
    const line = await waitFor('the warning', () => lines.find(({ msg }) => msg.startsWith('an open connection')));
    assert.equal(line.reason, 'WRONGPASS');
    await expectDelivery(bus);
    assert.deepEqual(
      (await connections(admin)).map(({ id }) => id),
      before.map(({ id }) => id),
    );
    assert.doesNotMatch(text(), /hunter/);
  });
});

/** Calls of a command since the server started. */
async function callsOf(admin: Redis, command: string): Promise<number> {
  const stats = await admin.info('commandstats');
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
}

describe('the access to a Redis with a credential hook', HANGS_FAIL, () => {
  it('renews both links before their token expires, without a gap (twin: a link that is not renewed is cut)', async (t) => {
    const server = await redisServer(t);
    const admin = adminOf(t, server);
    for (const user of ['first', 'second']) {
      await admin.call('ACL', 'SETUSER', user, 'on', `>${user}-token`, '~*', '&*', '+@all');
    }
    const hook = join(await temporaryFolder(t), 'hook.mjs');
    await writeFile(
      hook,
      `let calls = 0;
export default () => {
  const username = calls++ === 0 ? 'first' : 'second';
  return { username, password: username + '-token', expiresAt: Date.now() + (calls === 1 ? 3000 : 3_600_000) };
};`,
    );
    const settings = { REDIS_CREDENTIALS: hook };
    const renewed = await startBus(t, server.url, { settings });
    const heard: string[] = [];
    await renewed.bus.subscribe('channel', (payload) => heard.push(String(payload)));
    const before = await connections(admin);
    await waitFor('the new user on both links', async () => {
      const users = (await connections(admin)).map(({ user }) => user);
      return users.length === 2 && users.every((user) => user === 'second');
    });
    const publisher = before.find(({ isSubscriber }) => !isSubscriber);
    assert.ok((await connections(admin)).some(({ id }) => id === publisher?.id));
    await admin.call('ACL', 'SETUSER', 'third', 'on', '>third-token', '~*', '&*', '+@all');
    const cut = await startBus(t, server.url, { settings: { REDIS_USERNAME: 'third', REDIS_PASSWORD: 'third-token' } });
    await cut.bus.subscribe('channel', () => undefined);
    await admin.call('ACL', 'DELUSER', 'first', 'third');
    await waitFor('the end of the link that was not renewed', () => !cut.bus.isAvailable);
    await publisherOf(renewed.bus).publish([{ channel: 'channel', payload: 'hello' }]);
    await waitFor('the message', () => heard.length > 0);
    assert.deepEqual([heard, renewed.gaps, renewed.reconnects()], [['hello'], [], 0]);
    // Changes of subscriptions go to the new connection.
    await renewed.bus.subscribe('another', () => undefined);
    await expectDelivery(renewed.bus);
    assert.doesNotMatch(renewed.text(), /-token/);
  });

  it('keeps both links when the module returns the same token again', async (t) => {
    const server = await redisServer(t);
    const admin = adminOf(t, server);
    await admin.call('ACL', 'SETUSER', 'app', 'on', `>${PASSWORD}`, '~*', '&*', '+@all');
    const hook = join(await temporaryFolder(t), 'hook.mjs');
    await writeFile(
      hook,
      `export let calls = 0;
export default () => {
  calls++;
  return { username: 'app', password: '${PASSWORD}', expiresAt: Date.now() + 1000 };
};`,
    );
    const { text } = await startBus(t, server.url, { settings: { REDIS_CREDENTIALS: hook } });
    const before = await connections(admin);
    const { href } = pathToFileURL(hook);
    await waitFor('three calls', async () => ((await import(href)) as { calls: number }).calls > 2);
    assert.deepEqual(await connections(admin), before);
    assert.doesNotMatch(text(), /have changed/);
  });

  it('refuses to start when the module cannot be used', async (t) => {
    const hook = join(await temporaryFolder(t), 'hook.mjs');
    await writeFile(hook, 'export default () => ({ password: "" });');
    const settings = { KAFKA_BROKERS: '127.0.0.1:1', REDIS_URL: 'redis://127.0.0.1:1', REDIS_CREDENTIALS: hook };
    await assert.rejects(
      RedisAccess.open(readConfig(settings), logLines().log),
      (error: Error) =>
        error instanceof ConfigError && error.message.startsWith(`REDIS_CREDENTIALS: ${hook}: expected`),
    );
  });
});
