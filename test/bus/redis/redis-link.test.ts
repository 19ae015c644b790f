import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { RedisLink } from '../../../src/bus/redis/redis-link.ts';
import { createLog } from '../../../src/base/log.ts';
import { targetOf } from '../../support/redis-target.ts';
import { redisServer } from '../../support/services.ts';

/** A link of a user whose rights a test changes. Its timers are the test's; `answers` are those to its PINGs. */
async function startLink(t: TestContext) {
  const server = await redisServer(t);
  const admin = new Redis(server.url);
  t.after(() => admin.disconnect());
  await admin.call('ACL', 'SETUSER', 'app', 'on', '>pw', '+@all');
  const ups: boolean[] = [];
  const link = new RedisLink({
    target: targetOf(server.url.replace('//', '//app:pw@')),
    role: 'publisher',
    log: createLog('silent'),
    silenceTimeoutMs: 20_000,
    onUp: (isReconnect) => ups.push(isReconnect),
    onDown: () => undefined,
  });
  const answers: Promise<string>[] = [];
  const ping = link.client.ping.bind(link.client);
  t.mock.method(link.client, 'ping', () => answers[answers.push(ping()) - 1]);
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  t.after(() => link.close());
  await link.start();
  assert.equal(link.isUp, true);
  return { link, admin, answers, ups };
}

describe('RedisLink', () => {
  it('repeats a refused PING only at the next check while the link is up', async (t) => {
    const { admin, answers } = await startLink(t);
    await admin.call('ACL', 'SETUSER', 'app', '-ping');
    t.mock.timers.tick(10_000);
    assert.equal(answers.length, 2);
    await assert.rejects(answers[1]!, /NOPERM/);
    await nextTurn();
    t.mock.timers.tick(9_999);
    assert.equal(answers.length, 2);
    t.mock.timers.tick(1);
    assert.equal(answers.length, 3);
  });

  it('reports once that it is up, however many replies follow', async (t) => {
    const { answers, ups } = await startLink(t);
    for (let look = 1; look <= 3; look++) {
      t.mock.timers.tick(10_000);
      await answers[look];
      for (let turn = 0; turn < 3; turn++) await nextTurn();
    }
    assert.deepEqual(ups, [false]);
  });

  it('says that its server is a replica, also where another connection learned it', async (t) => {
    const { link } = await startLink(t);
    const lost = once(link.client, 'close');
    link.drop('it is a replica', 'READONLY');
    await lost;
    assert.equal(link.isUp, false);
    assert.equal(link.absence, 'READONLY');
  });
});
