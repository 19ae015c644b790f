import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Bus } from '../../../../src/bus/bus.ts';
import type { Listener } from '../../../../src/bus/feed.ts';
import { MemoryBus } from '../../../../src/bus/memory/memory-bus.ts';
import { MAX_TRIGGERS, OperationPubSub } from '../../../../src/graph/context/pubsub/operation-pubsub.ts';
import { Publishing } from '../../../../src/graph/context/pubsub/pubsub.ts';
import { TriggerChannels } from '../../../../src/graph/context/pubsub/trigger-channels.ts';
import { BusUnavailableError } from '../../../../src/base/errors.ts';
import { logLines } from '../../../bus/log-lines.ts';
import { ENVIRONMENT_NAMES } from '../../../../src/config/setting-names.ts';

type Port = Pick<Bus, 'send' | 'subscribe'>;

async function stage(t: TestContext, wrap: (bus: Port) => Port = (bus) => bus) {
  const { log, lines } = logLines();
  const bus = new MemoryBus({ log, prefix: 'crier:' });
  t.after(() => bus.close());
  await bus.start();
  const unrecognised: number[] = [];
  const channels = new TriggerChannels({
    bus: wrap(bus),
    prefix: 'crier:',
    maxChannelBytes: 256,
    maxMessageBytes: 1000,
    log,
    names: ENVIRONMENT_NAMES,
    onUnrecognisedMessage: () => unrecognised.push(1),
  });
  const gaps: number[] = [];
  const pubsub = new OperationPubSub(channels);
  pubsub.onGap = () => gaps.push(1);
  return { bus, channels, pubsub, unrecognised, gaps, lines };
}

const valueOf = async (iterator: AsyncIterator<unknown>) => ((await iterator.next()) as { value: unknown }).value;

describe('context.pubsub', () => {
  it('publishes JSON to iterators and listeners of every operation', async (t) => {
    const { channels, pubsub } = await stage(t);
    const other = new OperationPubSub(channels);
    const iterator = pubsub.asyncIterableIterator<{ n: number }>('NEWS');
    const heard: unknown[] = [];
    await other.subscribe('NEWS', (payload) => heard.push(payload));
    await new Publishing(channels).publish('NEWS', { n: 1, gone: undefined });
    assert.deepEqual(await valueOf(iterator), { n: 1 });
    assert.deepEqual(heard, [{ n: 1 }]);
  });

  it('keeps events that come between the call and the first next()', async (t) => {
    const { pubsub } = await stage(t);
    const iterator = pubsub.asyncIterator('NEWS');
    await pubsub.publish('NEWS', 1);
    await pubsub.publish('NEWS', 2);
    assert.deepEqual([await valueOf(iterator), await valueOf(iterator)], [1, 2]);
  });

  it('counts the bytes that wait in its iterators', async (t) => {
    const { pubsub } = await stage(t);
    let told = 0;
    pubsub.onBytes = (change) => (told += change);
    const [one, other] = [pubsub.asyncIterator('A'), pubsub.asyncIterator('A')];
    await pubsub.publish('A', 'aaa');
    await pubsub.publish('A', 'bb');
    assert.deepEqual([pubsub.waitingBytes, told], [18, 18]);
    await one.next();
    assert.deepEqual([pubsub.waitingBytes, told], [13, 13]);
    await other.return!();
    assert.deepEqual([pubsub.waitingBytes, told], [4, 4]);
    pubsub.close();
    assert.deepEqual([pubsub.waitingBytes, told], [0, 0]);
  });

  it('merges the events of several triggers', async (t) => {
    const { pubsub } = await stage(t);
    const iterator = pubsub.asyncIterableIterator(['A', 'B', 'A']);
    await pubsub.publish('A', 'a');
    await pubsub.publish('B', 'b');
    assert.deepEqual([await valueOf(iterator), await valueOf(iterator)], ['a', 'b']);
  });

  it('parses a payload once and freezes it, because all listeners share it', async (t) => {
    const { pubsub } = await stage(t);
    const heard: object[] = [];
    await pubsub.subscribe('NEWS', (payload) => heard.push(payload as object));
    await pubsub.subscribe('NEWS', (payload) => heard.push(payload as object));
    await pubsub.publish('NEWS', { deep: { er: 1 } });
    assert.equal(heard[0], heard[1]);
    assert.ok(Object.isFrozen((heard[0] as { deep: object }).deep));
  });

  it('reaches the other listeners when one throws', async (t) => {
    const { pubsub, lines } = await stage(t);
    const heard: unknown[] = [];
    await pubsub.subscribe('NEWS', () => {
      throw new Error('mine');
    });
    await pubsub.subscribe('NEWS', (payload) => heard.push(payload));
    await pubsub.publish('NEWS', 1);
    assert.deepEqual(heard, [1]);
    assert.match(JSON.stringify(lines), /a listener of context.pubsub threw/);
  });

  it('drops and counts messages that are not JSON or too long', async (t) => {
    const { bus, pubsub, unrecognised } = await stage(t);
    const iterator = pubsub.asyncIterableIterator('NEWS');
    for (const text of ['', 'text', '{', JSON.stringify('x'.repeat(1000))]) await bus.send('NEWS', text);
    await pubsub.publish('NEWS', undefined);
    assert.equal(await valueOf(iterator), null);
    assert.equal(unrecognised.length, 4);
  });

  it('subscribes each trigger once, and leaves it with the last listener', async (t) => {
    const subscribed: string[] = [];
    const { channels, pubsub } = await stage(t, (bus) => ({
      send: (channel, text) => bus.send(channel, text),
      subscribe: async (channel, listener, onGap) => {
        subscribed.push(`+${channel}`);
        const leave = await bus.subscribe(channel, listener, onGap);
        return () => (subscribed.push(`-${channel}`), leave());
      },
    }));
    const id = await pubsub.subscribe('NEWS', () => undefined);
    const iterator = pubsub.asyncIterableIterator('NEWS');
    pubsub.unsubscribe(id);
    pubsub.unsubscribe(id);
    await iterator.return!();
    await nextTurn();
    assert.deepEqual(subscribed, ['+NEWS', '-NEWS']);
    assert.equal(channels.size, 0);
  });

  it('ends everything with its operation, also a generator that waits for an event', async (t) => {
    const { channels, pubsub } = await stage(t);
    let isReleased = false;
    async function* wrapped() {
      try {
        for await (const event of pubsub.asyncIterableIterator('NEWS')) yield event;
      } finally {
        isReleased = true;
      }
    }
    const waiting = wrapped().next();
    await pubsub.subscribe('OTHER', () => assert.fail('heard after the end'));
    await nextTurn();
    assert.equal(channels.size, 2);
    pubsub.close();
    assert.deepEqual(await waiting, { done: true, value: undefined });
    assert.ok(isReleased);
    assert.equal(channels.size, 0);
    await pubsub.publish('OTHER', 1);
    assert.throws(() => pubsub.asyncIterableIterator('NEWS'), /the operation has ended/);
    assert.equal(channels.size, 0);
  });

  it('bounds the triggers of an operation', async (t) => {
    const { channels, pubsub } = await stage(t);
    const triggers = Array.from({ length: MAX_TRIGGERS }, (_, i) => `T${i}`);
    const iterator = pubsub.asyncIterableIterator(triggers);
    assert.throws(() => pubsub.asyncIterableIterator('ONE_MORE'), /may listen to 100 triggers/);
    await assert.rejects(
      pubsub.subscribe('ONE_MORE', () => undefined),
      /may listen to 100 triggers/,
    );
    await iterator.return!();
    assert.throws(() => pubsub.asyncIterableIterator([...triggers, 'ONE_MORE']), /may listen to 100 triggers/);
    assert.equal(channels.size, 0);
  });

  it("refuses triggers that could be crier's own channels, and names that no channel can have", async (t) => {
    const { channels, pubsub } = await stage(t);
    for (const trigger of ['crier:control:revoked', 'crier:', '', '\ud800', 'x'.repeat(257), 7 as unknown as string]) {
      assert.throws(() => pubsub.asyncIterableIterator(trigger), TypeError);
      await assert.rejects(
        pubsub.subscribe(trigger, () => undefined),
        TypeError,
      );
      await assert.rejects(pubsub.publish(trigger, 1), TypeError);
    }
    assert.equal(channels.size, 0);
  });

  it('needs a CHANNEL_PREFIX: without one, every channel could be one of crier', (t) => {
    const { log } = logLines();
    const bus = new MemoryBus({ log });
    t.after(() => bus.close());
    const limits = { maxChannelBytes: 256, maxMessageBytes: 1000, names: ENVIRONMENT_NAMES };
    const channels = new TriggerChannels({ bus, prefix: '', ...limits, log, onUnrecognisedMessage: () => undefined });
    assert.throws(() => new OperationPubSub(channels).asyncIterableIterator('A'), /set CHANNEL_PREFIX/);
  });

  it('reports a failed subscription to its readers, and to nobody without one', async (t) => {
    let isAway = true;
    const { channels, pubsub } = await stage(t, (bus) => ({
      send: () => Promise.reject(new BusUnavailableError('away')),
      subscribe: (...all) => (isAway ? Promise.reject(new BusUnavailableError('away')) : bus.subscribe(...all)),
    }));
    const unavailable = { extensions: { code: 'BUS_UNAVAILABLE' } };
    await assert.rejects(pubsub.publish('NEWS', 1), unavailable);
    await assert.rejects(
      pubsub.subscribe('NEWS', () => undefined),
      unavailable,
    );
    const iterator = pubsub.asyncIterableIterator('NEWS');
    pubsub.asyncIterableIterator('UNREAD');
    await assert.rejects(iterator.next(), unavailable);
    await nextTurn();
    assert.equal(channels.size, 0);
    isAway = false;
    await pubsub.subscribe('NEWS', () => undefined);
    assert.equal(channels.size, 1);
  });

  it('ends an iterator at once while its subscription waits for Redis', async (t) => {
    const { channels, pubsub } = await stage(t, (bus) => ({
      send: (channel, text) => bus.send(channel, text),
      subscribe: () => new Promise(() => undefined),
    }));
    const iterator = pubsub.asyncIterableIterator('NEWS');
    const waiting = iterator.next();
    await iterator.return!();
    assert.deepEqual(await waiting, { done: true, value: undefined });
    assert.equal(channels.size, 0);
  });

  it('reports a gap of the bus with the next event of an iterator, and at once for listeners', async (t) => {
    let reportGap: (() => void) | undefined;
    let deliver: Listener | undefined;
    const { pubsub, gaps } = await stage(t, (bus) => ({
      send: (channel, text) => bus.send(channel, text),
      subscribe: (_channel, listener, onGap) => {
        [deliver, reportGap] = [listener, onGap];
        return Promise.resolve(() => undefined);
      },
    }));
    const iterator = pubsub.asyncIterableIterator('NEWS');
    reportGap!();
    assert.equal(gaps.length, 0);
    deliver!(Buffer.from('1'));
    assert.equal(await valueOf(iterator), 1);
    assert.equal(gaps.length, 1);
    await pubsub.subscribe('NEWS', () => undefined);
    reportGap!();
    assert.equal(gaps.length, 2);
  });

  it('only publishes outside of `subscribe`', async (t) => {
    const { channels } = await stage(t);
    const publishing = new Publishing(channels);
    for (const method of ['subscribe', 'unsubscribe', 'asyncIterableIterator', 'asyncIterator'] as const) {
      assert.throws(() => publishing[method](), new RegExp(`context.pubsub.${method} belongs in the`));
    }
  });
});
