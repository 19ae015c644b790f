import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RedisBus } from '../../../src/bus/redis/redis-bus.ts';
import { startRedisSentinel } from '../../../stack/redis-sentinel.ts';
import { publisherOf } from '../../support/partition-publisher.ts';
import { randomName } from '../../support/services.ts';
import { waitFor } from '../../support/wait-for.ts';
import { logLines } from '../log-lines.ts';

describe('a primary that Sentinels name', { concurrency: 2 }, () => {
  it('is found, and its replica after it has failed; the gap is told', { timeout: 120_000 }, async (t) => {
    const { url, primary, sentinels, stop } = await startRedisSentinel();
    t.after(stop);
    // The first Sentinel never answers.
    sentinels[0]!.process.kill('SIGSTOP');
    t.after(() => sentinels[0]!.process.kill('SIGCONT'));
    const gaps: string[] = [];
    const observer = { onGap: (channels: readonly string[]) => gaps.push(...channels) };
    const bus = new RedisBus({ url, log: logLines().log, observer, silenceTimeoutMs: 2_000 });
    t.after(() => bus.close());
    await bus.start();
    await waitFor('the primary', () => bus.isAvailable, 30_000);
    const channel = randomName();
    const heard: string[] = [];
    await bus.subscribe(channel, (payload) => heard.push(String(payload)));
    await publisherOf(bus).publish([{ channel, payload: 'before' }]);
    await waitFor('the first message', () => heard.length === 1);
    sentinels[0]!.process.kill('SIGCONT');
    primary.process.kill('SIGKILL');
    await waitFor('the failure', () => !bus.isAvailable, 30_000);
    assert.deepEqual(bus.awayServers, ['crier']);
    await waitFor('the replica', () => bus.isAvailable, 60_000);
    await waitFor('the gap', () => gaps.includes(channel));
    await publisherOf(bus).publish([{ channel, payload: 'after' }]);
    await waitFor('the second message', () => heard.includes('after'));
    assert.deepEqual(heard, ['before', 'after']);
  });

  it('is away while the Sentinels know no primary of the name, and the log names what is wrong', async (t) => {
    const { url, stop } = await startRedisSentinel();
    t.after(stop);
    const { log, lines } = logLines();
    const bus = new RedisBus({ url: url.replace(/[^/]*$/, 'unknown'), log });
    t.after(() => bus.close());
    await bus.start();
    assert.equal(bus.isAvailable, false);
    await waitFor('the reason', () => lines.some(({ reason }) => /sentinel/i.test(reason ?? '')));
  });
});
