import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { RedisPubSub } from 'graphql-redis-subscriptions';
import type { PubSubRedisOptions } from 'graphql-redis-subscriptions';
import type { Unsubscribe } from '../../../../src/bus/feed.ts';
import { MemoryBus } from '../../../../src/bus/memory/memory-bus.ts';
import { logLines } from '../../../bus/log-lines.ts';

/** RedisPubSub over a bus of crier instead of Redis clients of its own. */
async function stage(t: TestContext) {
  const bus = new MemoryBus({ log: logLines().log });
  t.after(() => bus.close());
  await bus.start();
  const leave = new Map<string, Unsubscribe>();
  const link = Object.assign(new EventEmitter(), {
    publish: (channel: string, text: string) => bus.send(channel, text),
    subscribe: (channel: string, done: (error: Error | null) => void) =>
      void bus
        .subscribe(channel, (payload) => void link.emit('message', channel, String(payload)))
        .then((unsubscribe) => (leave.set(channel, unsubscribe), done(null)), done),
    unsubscribe: (channel: string) => leave.get(channel)?.(),
    punsubscribe: () => undefined,
  });
  const client = link as unknown as NonNullable<PubSubRedisOptions['publisher']>;
  const pubsub = new RedisPubSub({ publisher: client, subscriber: client });
  const iterate = () => pubsub.asyncIterableIterator('NEWS') as AsyncIterableIterator<unknown>;
  return { link, pubsub, iterate };
}

/** Why context.pubsub is not this class (docs/why/story.md). What crier does instead is in operation-pubsub.test.ts and event-queue.test.ts. */
describe('RedisPubSub of graphql-redis-subscriptions, over a bus of crier', () => {
  it('keeps the event from the listeners after one that throws', async (t) => {
    const { pubsub } = await stage(t);
    const heard: string[] = [];
    await pubsub.subscribe('NEWS', () => heard.push('first'));
    await pubsub.subscribe('NEWS', () => {
      throw new Error('mine');
    });
    await pubsub.subscribe('NEWS', () => heard.push('third'));
    await pubsub.publish('NEWS', 1);
    assert.deepEqual(heard, ['first']);
  });

  it('keeps every event for a reader that does not read', async (t) => {
    const { pubsub, iterate } = await stage(t);
    const events = iterate();
    const first = events.next();
    await nextTurn();
    for (let i = 0; i < 2000; i++) await pubsub.publish('NEWS', i);
    assert.equal((await first).value, 0);
    for (let i = 1; i < 2000; i++) assert.equal((await events.next()).value, i);
  });

  it('misses the events between the call and the first next()', async (t) => {
    const { pubsub, iterate } = await stage(t);
    const events = iterate();
    await pubsub.publish('NEWS', 'before');
    const first = events.next();
    await nextTurn();
    await pubsub.publish('NEWS', 'after');
    assert.equal((await first).value, 'after');
  });

  it('does not end an iterator before Redis has answered', async (t) => {
    const { link, iterate } = await stage(t);
    link.subscribe = () => undefined;
    const events = iterate();
    void events.next();
    let hasEnded = false;
    void events.return!().then(() => (hasEnded = true));
    for (let i = 0; i < 10; i++) await nextTurn();
    assert.equal(hasEnded, false);
  });

  it('ends the process at a refused SUBSCRIBE, though its caller handles the rejection', async () => {
    const script = `
      const { RedisPubSub } = require('graphql-redis-subscriptions');
      const link = { on() {}, subscribe: (_, done) => done(new Error('NOPERM')) };
      const pubsub = new RedisPubSub({ publisher: link, subscriber: link });
      pubsub.subscribe('NEWS', () => undefined).catch(() => console.log('handled'));`;
    await assert.rejects(promisify(execFile)(process.execPath, ['-e', script]), {
      code: 1,
      stdout: 'handled\n',
      stderr: /NOPERM/,
    });
  });
});
