import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryWatch, largestOutput } from '../../../loadtest/story/backlog/memory-watch.ts';
import { redisServer } from '../../support/services.ts';

describe('MemoryWatch', () => {
  it('has a value for each call, also where no poll has ended since the last one', async (t) => {
    const redis = await redisServer(t);
    const watch = new MemoryWatch(redis.url, [process.pid]);
    t.after(() => watch.close());
    await watch.start();
    const calls = [watch.take(), watch.take()];
    assert.ok(calls.every(({ residentBytes }) => residentBytes > 0));
  });
});

describe('largestOutput', () => {
  it('returns the largest output buffer of a client list, without one client name', () => {
    const list =
      'id=3 addr=127.0.0.1:1 name= sub=1 obl=0 oll=0 omem=20504 tot-mem=30000 cmd=subscribe\n' +
      'id=4 addr=127.0.0.1:2 name= sub=1 obl=0 oll=0 omem=1000 tot-mem=30000 cmd=subscribe\n' +
      'id=5 addr=127.0.0.1:3 name=watch sub=1 obl=0 oll=0 omem=99999 tot-mem=30000 cmd=subscribe\n';
    assert.equal(largestOutput(list, 'watch'), 20504);
    assert.equal(largestOutput('', 'watch'), 0);
  });
});
