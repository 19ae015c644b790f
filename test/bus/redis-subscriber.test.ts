import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RedisLink } from '../../src/bus/redis-link.ts';
import { RedisSubscriber } from '../../src/bus/redis-subscriber.ts';
import { createLog } from '../../src/log.ts';

describe('RedisSubscriber', () => {
  it('tells a gap once, before the first message behind it, also where that comes with the acknowledgement', async () => {
    const client = Object.assign(new EventEmitter(), { subscribe: () => Promise.resolve(1) });
    const told: string[] = [];
    const subscriber = new RedisSubscriber({ client, isUp: true, label: 'redis' } as unknown as RedisLink, {
      log: createLog('silent'),
      acknowledgeTimeoutMs: 1_000,
      onGap: (channels) => told.push(`gap in ${channels.join()}`),
    });
    subscriber.on('messageBuffer', (channel, text) => told.push(`${String(channel)}: ${String(text)}`));
    const receive = (text: string) => client.emit('messageBuffer', Buffer.from('a'), Buffer.from(text));
    for (const channel of ['a', 'b']) subscriber.subscribe(channel, () => undefined);
    await Promise.all([subscriber.acknowledged('a'), subscriber.acknowledged('b')]);
    receive('before');
    subscriber.down();
    subscriber.up();
    receive('behind');
    await nextTurn();
    assert.deepEqual(told, ['a: before', 'gap in a', 'a: behind', 'gap in b']);
    subscriber.close();
  });
});
