import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RedisLink } from '../../src/bus/redis-link.ts';
import { RedisSubscriber } from '../../src/bus/redis-subscriber.ts';
import { createLog } from '../../src/log.ts';

function createSubscriber() {
  const client = Object.assign(new EventEmitter(), {
    subscribe: () => Promise.resolve(1),
    unsubscribe: () => Promise.resolve(1),
  });
  const told: string[] = [];
  const subscriber = new RedisSubscriber({ client, isUp: true, label: 'redis' } as unknown as RedisLink, {
    log: createLog('silent'),
    acknowledgeTimeoutMs: 10_000,
    onGap: (channels) => told.push(`gap in ${channels.join()}`),
  });
  const receive = (name: string, text: string) => client.emit('messageBuffer', Buffer.from(name), Buffer.from(text));
  return { subscriber, client, told, receive };
}

describe('RedisSubscriber', () => {
  it('tells a gap once, before the first message behind it, also where that comes with the acknowledgement', async () => {
    const { subscriber, told, receive } = createSubscriber();
    for (const name of ['a', 'b']) subscriber.subscribe(name, (message) => told.push(`${name}: ${String(message)}`));
    await Promise.all([subscriber.acknowledged('a'), subscriber.acknowledged('b')]);
    receive('a', 'before');
    subscriber.down();
    subscriber.up();
    receive('a', 'behind');
    await nextTurn();
    assert.deepEqual(told, ['a: before', 'gap in a', 'a: behind', 'gap in b']);
    subscriber.close();
  });

  it('gives a message to the channel’s receiver of now, and to none where the channel is left or not known', async () => {
    const { subscriber, told, receive } = createSubscriber();
    subscriber.subscribe('é{"a"}', (message) => told.push(`first: ${String(message)}`));
    await subscriber.acknowledged('é{"a"}');
    receive('é{"a"}', '1');
    receive('e{"a"}', '2');
    subscriber.unsubscribe('é{"a"}');
    receive('é{"a"}', '3');
    subscriber.subscribe('é{"a"}', (message) => told.push(`second: ${String(message)}`));
    receive('é{"a"}', '4');
    await subscriber.acknowledged('é{"a"}');
    receive('é{"a"}', '5');
    subscriber.close();
    receive('é{"a"}', '6');
    assert.deepEqual(told, ['first: 1', 'second: 4', 'second: 5']);
  });

  it('has ioredis decode no message: it listens to none that it hands on as text', () => {
    const { client } = createSubscriber();
    assert.deepEqual(client.eventNames(), ['messageBuffer']);
  });
});
