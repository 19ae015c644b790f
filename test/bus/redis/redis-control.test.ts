import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Redis } from 'ioredis';
import { RedisBus } from '../../../src/bus/redis/redis-bus.ts';
import { BusUnavailableError } from '../../../src/base/errors.ts';
import { startRedisServer } from '../../../stack/redis-server.ts';
import { randomName, redisServer } from '../../support/services.ts';
import { waitFor } from '../../support/wait-for.ts';
import { logLines } from '../log-lines.ts';

const LATER_MS = 3_600_000;
const PREFIX = 'crier:';

async function startBus(t: TestContext, url: string, onGap?: () => void) {
  const bus = new RedisBus({ url, prefix: PREFIX, log: logLines().log, ...(onGap && { observer: { onGap } }) });
  t.after(() => bus.close());
  await bus.start();
  return bus;
}

function plainClient(t: TestContext, url: string): Redis {
  const client = new Redis(url);
  t.after(() => client.disconnect());
  return client;
}

describe('control messages over Redis', () => {
  it('report a gap to their listener after each loss of the link, and to nobody else', async (t) => {
    const server = await redisServer(t);
    const bus = await startBus(t, server.url, () => assert.fail('no channel of events was lost'));
    const heard: string[] = [];
    let gaps = 0;
    await bus.control.listen(
      'control:a',
      (text) => heard.push(text),
      () => gaps++,
    );
    await server.stop();
    await waitFor('the bus to notice', () => !bus.isAvailable);
    await assert.rejects(bus.control.send('control:a', 'x'), BusUnavailableError);
    const again = await startRedisServer({ port: server.port });
    t.after(() => again.stop());
    await waitFor('the gap, and both links', () => gaps === 1 && bus.isAvailable);
    await bus.control.send('control:a', 'y');
    await waitFor('the text', () => heard.length > 0);
    assert.deepEqual(heard, ['y']);
  });

  it('leave no key behind when the last kept text has ended', async (t) => {
    const server = await redisServer(t);
    const bus = await startBus(t, server.url);
    const client = plainClient(t, server.url);
    const name = randomName('control');
    const untilMs = Date.now() + LATER_MS;
    await bus.control.keep(name, [{ text: 'a', untilMs }], 10);
    await bus.control.keep(name, [{ text: 'b', untilMs: untilMs - 1000 }], 10);
    const leftMs = await client.pttl(`${PREFIX}${name}`);
    assert.ok(leftMs > LATER_MS - 60_000 && leftMs <= LATER_MS, String(leftMs));
    await bus.control.keep(
      name,
      ['a', 'b'].map((text) => ({ text, untilMs: 1 })),
      10,
    );
    assert.equal(await client.exists(`${PREFIX}${name}`), 0);
  });
});
