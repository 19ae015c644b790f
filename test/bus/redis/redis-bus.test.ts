import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { RedisBus } from '../../../src/bus/redis/redis-bus.ts';
import { Receiver } from '../../../src/bus/flow/receiver.ts';
import { RedisLink } from '../../../src/bus/redis/redis-link.ts';
import { RedisSubscriber } from '../../../src/bus/redis/redis-subscriber.ts';
import { startRedisServer } from '../../../stack/redis-server.ts';
import type { RedisServer } from '../../../stack/redis-server.ts';
import { publisherOf } from '../../support/partition-publisher.ts';
import { randomName } from '../../support/services.ts';
import { targetOf } from '../../support/redis-target.ts';
import { waitFor } from '../../support/wait-for.ts';
import { busContract } from '../contract.ts';
import { controlContract } from '../control-contract.ts';
import { plainContract } from '../plain-contract.ts';
import { stateKeyContract } from '../state-key-contract.ts';
import { logLines } from '../log-lines.ts';

describe('over a real Redis', () => {
  let server: RedisServer;
  let admin: Redis;

  before(async () => {
    server = await startRedisServer();
    admin = new Redis(server.url);
  });
  after(async () => {
    admin.disconnect();
    await server.stop();
  });

  controlContract('one Redis', (_t, options) => Promise.resolve(new RedisBus({ ...options, url: server.url })));
  plainContract('one Redis', (options) => new RedisBus({ ...options, url: server.url }));
  busContract('one Redis', (_t, options) => Promise.resolve(new RedisBus({ ...options, url: server.url })));
  stateKeyContract('one Redis', (_t, options) => Promise.resolve(new RedisBus({ ...options, url: server.url })));

  /** Number of connections that Redis counts on the channel. */
  async function subscribers(channel: string, redis = admin): Promise<number> {
    return Number((await redis.pubsub('NUMSUB', channel))[1]);
  }

  /** Number of times that Redis has run the command. */
  async function calls(command: string): Promise<number> {
    const stats = await admin.info('commandstats');
    return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
  }

  it('subscribes a channel once for any number of listeners, and unsubscribes it with the last one', async (t) => {
    const bus = new RedisBus({ url: server.url, log: logLines().log, probeIntervalMs: 3_600_000 });
    t.after(() => bus.close());
    await bus.start();
    const channel = randomName();
    const before = { subscribe: await calls('subscribe'), punsubscribe: await calls('punsubscribe') };
    const all = await Promise.all(Array.from({ length: 50 }, () => bus.subscribe(channel, () => undefined)));
    all.push(await bus.subscribe(channel, () => undefined));
    assert.equal(await subscribers(channel), 1);
    assert.equal((await calls('subscribe')) - before.subscribe, 1);
    for (const unsubscribe of all.slice(1)) unsubscribe();
    assert.equal(await subscribers(channel), 1);
    all[0]!();
    await waitFor('the channel to be left', async () => (await subscribers(channel)) === 0);
    assert.equal((await calls('punsubscribe')) - before.punsubscribe, 0, 'no PUNSUBSCRIBE for a literal channel');
  });

  it('delivers a message that is read together with the acknowledgement of its channel', async (t) => {
    const bus = new RedisBus({ url: server.url, log: logLines().log });
    t.after(() => bus.close());
    await bus.start();
    const channel = randomName();
    const seen: string[] = [];
    const subscribing = bus.subscribe(channel, (payload) => seen.push(String(payload)));
    await nextTurn();
    // This process reads nothing meanwhile: the acknowledgement and the message wait in one socket.
    const publish = () => execFileSync('redis-cli', ['-p', `${server.port}`, 'PUBLISH', channel, 'first']);
    const deadline = performance.now() + 10_000;
    while (String(publish()).trim() !== '1') assert.ok(performance.now() < deadline, 'SUBSCRIBE reached Redis');
    await subscribing;
    await publisherOf(bus).publish([{ channel, payload: 'second' }]);
    await waitFor('the second message', () => seen.includes('second'));
    assert.deepEqual(seen, ['first', 'second']);
  });

  it('subscribes the channels of one turn in few commands', async (t) => {
    const bus = new RedisBus({ url: server.url, log: logLines().log, probeIntervalMs: 3_600_000 });
    t.after(() => bus.close());
    await bus.start();
    const before = await calls('subscribe');
    const prefix = randomName();
    await Promise.all(Array.from({ length: 1_500 }, (_, i) => bus.subscribe(`${prefix}${i}`, () => undefined)));
    assert.equal((await calls('subscribe')) - before, 3);
  });

  it('agrees with Redis after any churn on one channel, and its live listeners receive every message', async (t) => {
    const bus = new RedisBus({ url: server.url, log: logLines().log });
    t.after(() => bus.close());
    await bus.start();
    const channel = randomName();
    const live = new Set<{ heard: string; leave(): void }>();
    const leaveSome = (share: number) => {
      for (const each of live) if (Math.random() < share) each.leave();
    };
    const join = async () => {
      const entry = { heard: '', leave: () => assert.fail('not joined') };
      const unsubscribe = await bus.subscribe(channel, (payload) => (entry.heard = String(payload)));
      live.add(Object.assign(entry, { leave: () => void (live.delete(entry), unsubscribe()) }));
    };
    for (let round = 0; round < 600; round++) {
      const joining = Array.from({ length: Math.floor(Math.random() * 3) }, join);
      leaveSome(0.7);
      if (round % 2 === 0) await new Promise(setImmediate);
      await Promise.all(joining);
      leaveSome(0.3);
      if (round % 10 === 0) {
        await publisherOf(bus).publish([{ channel, payload: `${round}` }]);
        await waitFor('all that are live', () => [...live].every(({ heard }) => heard === `${round}`));
      }
      if (round % 25 === 0) {
        await waitFor('NUMSUB to agree', async () => (await subscribers(channel)) === (live.size > 0 ? 1 : 0));
      }
    }
    leaveSome(1);
    await waitFor('the channel to be left', async () => (await subscribers(channel)) === 0);
  });

  it('sends no SUBSCRIBE for a channel that is unsubscribed before the link is up, or in the same turn', async (t) => {
    const { log } = logLines();
    const link: RedisLink = new RedisLink({
      target: targetOf(server.url),
      role: 'subscriber',
      log,
      silenceTimeoutMs: 6_000,
      onUp: () => subscriber.up(link),
      onDown: () => subscriber.down(link),
    });
    const options = { log, acknowledgeTimeoutMs: 10_000, onGap: () => undefined };
    const subscriber = new RedisSubscriber({ ...options, linkOf: () => link });
    subscriber.attach(link);
    t.after(() => link.close());
    const prefix = randomName();
    subscriber.subscribe(`${prefix}away`, () => undefined);
    const waiting = assert.rejects(
      subscriber.acknowledged(`${prefix}away`),
      /was unsubscribed before Redis acknowledged it/,
    );
    subscriber.unsubscribe(`${prefix}away`);
    await waiting;
    await link.start();
    for (const name of ['left', 'stays']) subscriber.subscribe(`${prefix}${name}`, () => undefined);
    subscriber.unsubscribe(`${prefix}left`);
    await subscriber.acknowledged(`${prefix}stays`);
    await assert.rejects(subscriber.acknowledged(`${prefix}left`), /is not subscribed/);
    assert.deepEqual(await admin.pubsub('CHANNELS', `${prefix}*`), [`${prefix}stays`]);
  });

  it('reports no gap for a channel that is unsubscribed during a resubscription, even if it is subscribed again', async (t) => {
    const { log } = logLines();
    const prefix = randomName();
    const subscribe = (name: string) => subscriber.subscribe(`${prefix}${name}`, () => undefined);
    const gaps: string[] = [];
    const link: RedisLink = new RedisLink({
      target: targetOf(server.url),
      role: 'subscriber',
      log,
      silenceTimeoutMs: 6_000,
      onUp: (isReconnect) => {
        subscriber.up(link);
        if (!isReconnect) return;
        for (const name of ['left', 'joined again']) subscriber.unsubscribe(`${prefix}${name}`);
        subscribe('joined again');
      },
      onDown: () => subscriber.down(link),
    });
    const onGap = (channels: readonly string[]) => gaps.push(...channels);
    const subscriber = new RedisSubscriber({ log, acknowledgeTimeoutMs: 10_000, onGap, linkOf: () => link });
    subscriber.attach(link);
    t.after(() => link.close());
    await link.start();
    const names = ['left', 'joined again', 'stays'];
    for (const name of names) subscribe(name);
    await Promise.all(names.map((name) => subscriber.acknowledged(`${prefix}${name}`)));
    link.drop('the test wants another');
    await waitFor('the gap', () => gaps.includes(`${prefix}stays`));
    await subscriber.acknowledged(`${prefix}joined again`);
    assert.deepEqual(gaps, [`${prefix}stays`]);
  });

  it('never overwrites delivered bytes, however many reads they span and whatever follows', async (t) => {
    const bus = new RedisBus({ url: server.url, log: logLines().log });
    t.after(() => bus.close());
    await bus.start();
    const channel = randomName();
    const heard: Buffer[] = [];
    await bus.subscribe(channel, (payload) => heard.push(payload));
    // Most are shorter than a read of 64 KiB; some end in the next read, and some span many.
    const lengths = Array.from({ length: 600 }, (_, i) => (i % 50 === 0 ? 400_000 : 1 + ((i * 7_919) % 9_000)));
    const payloads = lengths.map((length, i) => `${i}é`.repeat(length).slice(0, length));
    await publisherOf(bus).publish(payloads.map((payload) => ({ channel, payload })));
    await waitFor('all of them', () => heard.length === payloads.length);
    const reads = new Set(heard.map(({ buffer }) => buffer));
    assert.ok(reads.size > 10 && reads.size < heard.length, 'parts of what was read, not copies');
    heard.forEach((payload, i) => assert.ok(payload.equals(Buffer.from(payloads[i]!)), `message ${i}`));
  });

  it('delivers unrecognised messages unchanged, also bytes that are not UTF-8', async (t) => {
    const bus = new RedisBus({ url: server.url, log: logLines().log });
    t.after(() => bus.close());
    await bus.start();
    const channel = randomName();
    const heard: [string, unknown][] = [];
    await bus.subscribe(channel, (payload, coordinates) => heard.push([payload.toString('latin1'), coordinates]));
    const texts = ['', '@', '{"a":"\xff\xfe"}', '@1 2 3 \xff\n{}', '\xef\xbb\xbf{}'];
    for (const text of texts) await admin.publish(channel, Buffer.from(text, 'latin1'));
    await waitFor('all of them', () => heard.length === texts.length);
    assert.deepEqual(
      heard,
      texts.map((text) => [text, undefined]),
    );
  });

  it('logs nothing about idle links', async (t) => {
    const { log, lines } = logLines();
    const bus = new RedisBus({
      url: server.url,
      log,
      silenceTimeoutMs: 2_000,
      probeIntervalMs: 3_600_000,
    });
    t.after(() => bus.close());
    await bus.start();
    await bus.subscribe(randomName(), () => undefined);
    const pings = await calls('ping');
    await waitFor('two more probes of each link', async () => (await calls('ping')) >= pings + 4);
    assert.deepEqual(
      lines.map((line) => line.msg),
      ['the connection to Redis is up', 'the connection to Redis is up'],
    );
    assert.equal(bus.isAvailable, true);
  });
});

describe('a Redis that requires a user', () => {
  it('works with the least permissions, and never shows the password when the credentials are wrong', async (t) => {
    const server = await startRedisServer();
    t.after(() => server.stop());
    const admin = new Redis(server.url);
    t.after(() => admin.disconnect());
    const page = await readFile('docs/operate/redis.md', 'utf8');
    const rights = /`(resetchannels [^`]*)`/.exec(page)![1]!.split(' ');
    await admin.call('ACL', 'SETUSER', 'app', 'on', '>s3cret/pass', ...rights);
    const { log, lines, text } = logLines();
    const url = `redis://app:s3cret%2Fpass@127.0.0.1:${server.port}/0`;
    const bus = new RedisBus({ url, prefix: 'crier:', log, flowPatienceMs: 60_000 });
    const receiver = new Receiver({
      gateway: 'pod',
      targetMs: 500,
      maxBytes: 65_536,
      maxExecuting: 500,
      sockets: () => 1,
      fill: () => 0,
    });
    const wrong = new RedisBus({
      url: `redis://app:wr0ng-password@127.0.0.1:${server.port}`,
      log,
      subscribeTimeoutMs: 300,
    });
    t.after(() => Promise.all([bus.close(), wrong.close()]));
    await bus.start();
    const stop = bus.receive(receiver);
    receiver.intake('a', 0).arrive(1);
    const seen: string[] = [];
    await bus.subscribe('crier:a', (payload) => seen.push(String(payload)));
    await publisherOf(bus).publish([{ channel: 'crier:a', payload: 'x' }]);
    await waitFor('the message', () => seen.length === 1);
    await bus.acquire({ topic: 'a', partition: 0, position: -1 });
    const request = { holder: 'blue', process: 'one' };
    assert.equal((await bus.lock('group', { ...request, ttlMs: 60_000 })).holder, 'blue');
    await bus.unlock('group', request);
    assert.equal(await bus.lockOf('group'), undefined);
    const history = { entries: 1, bytes: 1, seconds: 60 };
    for (const offset of [0, 1, 2]) {
      const message = { channel: 'crier:a', payload: 'xyz', offset, timestamp: 0, history };
      await bus.publish([message], { topic: 'a', partition: 0, offset });
    }
    const kept = await bus.history('crier:a', { from: undefined, maxEntries: 1, maxBytes: 9 });
    assert.equal(kept.entries.length, 1);
    const again = { from: kept.entries[0]!.coordinates.entry, maxEntries: 1, maxBytes: 9 };
    assert.deepEqual(await bus.history('crier:a', again), kept);
    assert.equal(await bus.agree('secret', 'x'), 'x');
    const texts: string[] = [];
    await bus.control.listen(
      'control:a',
      (text) => texts.push(text),
      () => undefined,
    );
    await bus.control.send('control:a', 'sent');
    await bus.control.keep('control:a', [{ text: 'kept', untilMs: Date.now() + 60_000 }], 1);
    await waitFor('the control messages', () => texts.length === 2);
    assert.deepEqual(await bus.control.kept('control:a'), ['kept']);
    const large = { channel: 'crier:a', payload: 'x'.repeat(100_000), offset: 3, timestamp: 0 };
    await bus.publish([large], { topic: 'a', partition: 0, offset: 3 });
    await waitFor('a credit', () => bus.sender.lags().get('pod') === 1);
    stop();
    await waitFor('the final credit', () => bus.sender.lags().size === 0);
    assert.deepEqual(await admin.call('ACL', 'LOG'), [], 'nothing was asked for that the user may not do');

    await wrong.start();
    assert.equal(wrong.isAvailable, false);
    const refusals = await Promise.allSettled([
      publisherOf(wrong).publish([{ channel: 'crier:a', payload: 'p4yload' }]),
      wrong.subscribe('crier:a', () => undefined),
      publisherOf(bus).publish([{ channel: 'other', payload: 'p4yload' }]),
    ]);
    assert.ok(lines.some((line) => /WRONGPASS/.test(line.reason ?? '')));
    for (const refusal of refusals) {
      assert.equal(refusal.status, 'rejected');
      const { message, cause } = refusal.reason as Error;
      assert.ok(!/wr0ng|s3cret|p4yload/.test(message + JSON.stringify(cause ?? '')));
    }
    assert.ok(!/wr0ng|s3cret|p4yload/.test(text()));
    const attempts = Number(/total_connections_received:(\d+)/.exec(await admin.info('stats'))![1]);
    await delay(1_000);
    const more = Number(/total_connections_received:(\d+)/.exec(await admin.info('stats'))![1]) - attempts;
    assert.ok(more < 12, `backs off: ${more} attempts in a second on two links`);
  });
});
