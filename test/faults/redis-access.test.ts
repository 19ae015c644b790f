import assert from 'node:assert/strict';
import { appendFile, copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Redis } from 'ioredis';
import { CertificateAuthority } from '../../stack/certificate-files.ts';
import { redisServer } from '../support/services.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { Fleet } from './fleet.ts';
import type { FleetOptions } from './fleet.ts';
import { isFull } from './form.ts';
import type { Listener } from './listener.ts';

const LANES = 10;
const ENTRIES_PER_SECOND = isFull ? 500 : 100;
const ROTATIONS = isFull ? 3 : 1;

/** A gateway with a stock client and a client of @crier/client per lane, and a running ledger. */
async function startStream(t: TestContext, options: Omit<FleetOptions, 'gateways' | 'lanes'>) {
  const fleet = await Fleet.start(t, { gateways: 1, lanes: LANES, ...options });
  const listeners = [
    ...(await fleet.listen(LANES, { kind: 'stock' })),
    ...(await fleet.listen(LANES, { kind: 'helper' })),
  ];
  fleet.publisher.begin(ENTRIES_PER_SECOND);
  await fleet.until('the first entries', () => listeners.every(({ heard }) => heard.length > 1));
  return { fleet, listeners };
}

async function untilHeard(fleet: Fleet, listeners: readonly Listener[]): Promise<void> {
  const writtenAfter = Date.now();
  await fleet.until('a new entry at every listener', () =>
    listeners.every(({ heard }) => (heard.at(-1)?.entry.writtenAt ?? 0) >= writtenAfter),
  );
}

/** Nothing lost, doubled or reordered, no gap told, and no socket closed. */
async function expectWhole(fleet: Fleet, listeners: readonly Listener[]): Promise<void> {
  await fleet.finish(listeners);
  const shortcomings = listeners.map((listener) => listener.shortcomings(fleet.publisher.written));
  assert.deepEqual(
    shortcomings.filter((text) => text !== ''),
    [],
  );
  assert.equal(listeners.filter(({ heard }) => heard.some(({ extensions }) => extensions?.gap)).length, 0);
  assert.equal(listeners.filter(({ isConnected, absencesMs }) => !isConnected || absencesMs.length > 0).length, 0);
}

/** Ends the links of the gateways, which are the only ones of this user. */
async function cutLinks(admin: Redis, user: string): Promise<void> {
  await admin.call('CLIENT', 'KILL', 'USER', user);
}

/** Ids of the connections of a user that have subscribed; during a replacement two. */
async function subscriberOf(admin: Redis, user: string): Promise<string> {
  const list = String(await admin.call('CLIENT', 'LIST', 'TYPE', 'pubsub'));
  const lines = list.split('\n').filter((line) => line.includes(` user=${user} `));
  return lines.map((line) => line.split(' ', 1)[0]).join(' ');
}

const isReplaced = (before: string, after: string) => after !== before && !after.includes(' ') && after !== '';

const lineCount = (fleet: Fleet, text: string) => fleet.pods[0]!.log.split(text).length - 1;

describe('a certificate of Redis that is rotated', () => {
  it('costs no client an event or its socket, whether links stay open or are cut', async (t) => {
    const folder = await temporaryFolder(t);
    let authority = await CertificateAuthority.create(folder, 'authority-0');
    const tls = { server: await authority.issue('redis'), authority: authority.certificate };
    const redis = await redisServer(t, { tls });
    const admin = new Redis(redis.url);
    t.after(() => admin.disconnect());
    await admin.call('ACL', 'SETUSER', 'gateway', 'on', '>pw', '~*', '&*', '+@all');
    const trusted = join(folder, 'trusted.pem');
    await copyFile(authority.certificate, trusted);
    const { fleet, listeners } = await startStream(t, {
      redisUrl: redis.url,
      gatewayRedisUrl: redis.tlsUrl,
      settings: { REDIS_TLS_CA_FILE: trusted, REDIS_USERNAME: 'gateway', REDIS_PASSWORD: 'pw' },
    });
    for (let rotation = 1; rotation <= ROTATIONS; rotation++) {
      authority = await CertificateAuthority.create(folder, `authority-${rotation}`);
      const { certificate, key } = await authority.issue('redis');
      // First both authorities are trusted, then Redis shows the new certificate, then only the new authority is.
      await appendFile(trusted, await readFile(authority.certificate));
      await fleet.until(
        'the added authority',
        () => lineCount(fleet, 'the TLS files of Redis have changed') === 2 * rotation - 1,
      );
      await admin.call('CONFIG', 'SET', 'tls-cert-file', certificate, 'tls-key-file', key);
      await copyFile(authority.certificate, trusted);
      await fleet.until(
        'the new authority',
        () => lineCount(fleet, 'the TLS files of Redis have changed') === 2 * rotation,
      );
      await untilHeard(fleet, listeners);
      await cutLinks(admin, 'gateway');
      await untilHeard(fleet, listeners);
    }
    await expectWhole(fleet, listeners);
  });
});

describe('a password of Redis that is rotated', () => {
  it('costs no client an event or its socket: links are renewed without a gap, and then cut', async (t) => {
    const redis = await redisServer(t);
    const admin = new Redis(redis.url);
    t.after(() => admin.disconnect());
    await admin.call('ACL', 'SETUSER', 'gateway', 'on', '>password-0', '~*', '&*', '+@all');
    const file = join(await temporaryFolder(t), 'password');
    await writeFile(file, 'password-0');
    const settings = { REDIS_USERNAME: 'gateway', REDIS_PASSWORD_FILE: file };
    const { fleet, listeners } = await startStream(t, { redisUrl: redis.url, settings });
    for (let rotation = 1; rotation <= ROTATIONS; rotation++) {
      await admin.call('ACL', 'SETUSER', 'gateway', `>password-${rotation}`);
      const before = await subscriberOf(admin, 'gateway');
      await writeFile(file, `password-${rotation}`);
      await fleet.until('a new subscriber link', async () => isReplaced(before, await subscriberOf(admin, 'gateway')));
      await admin.call('ACL', 'SETUSER', 'gateway', `<password-${rotation - 1}`);
      await untilHeard(fleet, listeners);
    }
    assert.equal(await fleet.pods[0]!.metric('crier_bus_gaps_total'), 0);
    await cutLinks(admin, 'gateway');
    await untilHeard(fleet, listeners);
    await expectWhole(fleet, listeners);
    assert.doesNotMatch(fleet.pods[0]!.log, /password-\d/);
  });
});
