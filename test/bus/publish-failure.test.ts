import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Redis } from 'ioredis';
import { failureOf, replyFailure } from '../../src/bus/publish-failure.ts';
import { RedisBus } from '../../src/bus/redis/redis-bus.ts';
import { BusUnavailableError, FencedError } from '../../src/base/errors.ts';
import { redisServer } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';
import { logLines } from './log-lines.ts';

const MESSAGE = { channel: 'a', payload: 'x', offset: 0, timestamp: 0 };

describe('replyFailure', () => {
  for (const [text, reason] of [
    ['MOVED 3999 127.0.0.1:6381', 'MOVED'],
    ["CROSSSLOT Keys in request don't hash to the same slot", 'CROSSSLOT'],
    [
      'ERR Script attempted to access keys that do not hash to the same slot script: 5f, on @user_script:1.',
      'CROSSSLOT',
    ],
    ['ERR Error running script (call to f_5f): @user_script:1: -OOM command not allowed when used memory', 'OOM'],
    ["NOPERM this user has no permissions to run the 'publish' command", 'NOPERM'],
    ["ERR The user executing the script can't publish to the channel mentioned in the command", 'NOPERM'],
    ['ERR ACL failure in script: No permissions to access a channel script: 5f, on @user_script:1.', 'NOPERM'],
    ['ERR Script attempted to access a slot not served script: 5f, on @user_script:1.', 'CROSSSLOT'],
    ['ERR Attempted to access a non local key in a cluster node script: on @user_script:1.', 'CROSSSLOT'],
    ["READONLY You can't write against a read only replica.", 'READONLY'],
    ['WRONGPASS invalid username-password pair or user is disabled.', 'WRONGPASS'],
    ['ERR Error running script: -WRONGTYPE Operation against a key holding the wrong kind of value', 'WRONGTYPE'],
    ['DENIED Redis is running in protected mode because protected mode is enabled', 'DENIED'],
    ['ERR unknown command', 'other'],
  ] as const) {
    it(`is ${reason} for ${text.slice(0, 30)}`, () => assert.equal(replyFailure(text), reason));
  }
});

describe('failureOf', () => {
  it('returns a label for any value that a publish throws', () => {
    for (const [error, reason] of [
      [new BusUnavailableError('gone', { reason: 'timeout' }), 'timeout'],
      [new FencedError('leased by another worker'), 'fenced'],
      [new Error('a bug'), 'other'],
    ] as const) {
      assert.equal(failureOf(error), reason);
    }
  });
});

describe('a publish without a link', () => {
  for (const [what, path, reason] of [
    ['that has no password', '', 'NOAUTH'],
    ['that has a wrong password', ':wrong@', 'WRONGPASS'],
  ] as const)
    it(`names how Redis refuses a link ${what}`, async (t) => {
      const server = await redisServer(t);
      const admin = new Redis(server.url);
      t.after(() => admin.disconnect());
      await admin.config('SET', 'requirepass', 'word');
      const { log } = logLines();
      const bus = new RedisBus({ url: server.url.replace('//', `//${path}`), log });
      t.after(() => bus.close());
      await bus.start();
      const position = { topic: 'orders', partition: 0, offset: 0 };
      await assert.rejects(bus.acquire({ topic: 'orders', partition: 0, position: -1 }), { reason });
      await assert.rejects(bus.publish([MESSAGE], position), { code: 'ERR_FENCED' });
    });
});

describe('a publish or a lease that Redis does not accept', () => {
  it('reports the reason in the error, to the observer and, once per window and reason, in the log', async (t) => {
    const server = await redisServer(t);
    const admin = new Redis(server.url, { retryStrategy: () => null });
    t.after(() => admin.disconnect());
    admin.on('error', () => undefined);
    await admin.call('ACL', 'SETUSER', 'app', 'on', '>word', 'allkeys', 'allchannels', '+@all');
    const { log, lines } = logLines();
    const reasons: string[] = [];
    const bus = new RedisBus({
      url: server.url.replace('//', '//app:word@'),
      log,
      silenceTimeoutMs: 500,
      observer: { onPublishFailure: (_messages, reason) => reasons.push(reason) },
    });
    t.after(() => bus.close());
    const position = { topic: 'orders', partition: 0, offset: 0 };
    const refused = (reason: string) => assert.rejects(bus.publish([MESSAGE], position), { reason });

    await bus.start();
    await bus.acquire({ topic: 'orders', partition: 0, position: -1 });
    await admin.call('ACL', 'SETUSER', 'app', 'resetchannels');
    await refused('NOPERM');
    await refused('NOPERM');
    await admin.call('ACL', 'SETUSER', 'app', 'allchannels');
    await admin.config('SET', 'maxmemory', '1');
    await refused('OOM');
    await admin.config('SET', 'maxmemory', '0');
    await admin.call('REPLICAOF', '127.0.0.1', '1');
    await refused('READONLY');
    await assert.rejects(bus.acquire({ topic: 'bids', partition: 0, position: -1 }), { reason: 'READONLY' });
    await admin.call('REPLICAOF', 'NO', 'ONE');
    await waitFor('the primary', () => bus.isAvailable);
    server.process.kill('SIGSTOP');
    await refused('timeout');
    await refused('away');
    server.process.kill('SIGCONT');

    const expected = ['NOPERM', 'NOPERM', 'OOM', 'READONLY', 'READONLY', 'timeout', 'away'];
    assert.deepEqual(reasons, expected);
    const logged = lines.filter(({ msg }) => msg === 'Redis did not accept a publish').map(({ reason }) => reason);
    assert.deepEqual(logged, [...new Set(expected)]);
    assert.equal(lines.filter(({ msg }) => msg === 'Redis did not accept the lease of a partition').length, 1);
  });
});
