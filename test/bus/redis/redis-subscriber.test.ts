import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Command } from 'ioredis';
import type { RedisLink } from '../../../src/bus/redis/redis-link.ts';
import { RedisSubscriber } from '../../../src/bus/redis/redis-subscriber.ts';
import { createLog } from '../../../src/base/log.ts';

/** @param acknowledge what Redis does with a SUBSCRIBE */
function createSubscriber(acknowledge = (command: Command) => command.resolve(1)) {
  const client = Object.assign(new EventEmitter(), {
    sendCommand: (command: Command) => {
      acknowledge(command);
      return command.promise;
    },
  });
  const changeSubscriptions = (command: Command) =>
    command.name === 'unsubscribe' ? Promise.resolve(1) : client.sendCommand(command);
  const told: string[] = [];
  const link = { client, changeSubscriptions, isUp: true, label: 'redis' } as unknown as RedisLink;
  const subscriber = new RedisSubscriber({
    linkOf: () => link,
    log: createLog('silent'),
    acknowledgeTimeoutMs: 10_000,
    onGap: (channels) => told.push(`gap in ${channels.join()}`),
  });
  subscriber.attach(link);
  const receive = (name: string, text: string) => client.emit('messageBuffer', Buffer.from(name), Buffer.from(text));
  return { subscriber, link, client, told, receive };
}

describe('RedisSubscriber', () => {
  it('reports a gap once, before the first message after it, also if that message arrives with the acknowledgement', async () => {
    const { subscriber, link, told, receive } = createSubscriber();
    for (const name of ['a', 'b']) subscriber.subscribe(name, (message) => told.push(`${name}: ${String(message)}`));
    await Promise.all([subscriber.acknowledged('a'), subscriber.acknowledged('b')]);
    receive('a', 'before');
    subscriber.down(link);
    subscriber.up(link);
    receive('a', 'behind');
    await nextTurn();
    assert.deepEqual(told, ['a: before', 'gap in a', 'a: behind', 'gap in b']);
    subscriber.close();
  });

  it('passes a message to the channel’s current receiver, and drops it if the channel is unsubscribed or unknown', async () => {
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

  it('drops messages of an ended subscription until the next one is acknowledged', async () => {
    const commands: Command[] = [];
    const { subscriber, told, receive } = createSubscriber((command) => void commands.push(command));
    for (const name of ['first', 'second']) {
      subscriber.subscribe('a', (message) => told.push(`${name}: ${String(message)}`));
      await nextTurn();
      receive('a', 'early');
      commands.at(-1)!.resolve(1);
      receive('a', 'with the acknowledgement');
      await subscriber.acknowledged('a');
      subscriber.unsubscribe('a');
      await nextTurn();
    }
    assert.equal(commands.length, 2);
    assert.deepEqual(told, ['first: with the acknowledgement', 'second: with the acknowledgement']);
    subscriber.close();
  });

  it('applies an acknowledgement only to the link of its SUBSCRIBE, however late it is read', async () => {
    const commands: Command[] = [];
    const { subscriber, link } = createSubscriber((command) => void commands.push(command));
    subscriber.subscribe('a', () => undefined);
    let isAcknowledged = false;
    const acknowledged = subscriber.acknowledged('a').then(() => (isAcknowledged = true));
    await nextTurn();
    subscriber.down(link);
    commands[0]!.resolve(1);
    assert.equal(subscriber.isLive('a'), false, 'read after the loss');
    subscriber.up(link);
    commands[1]!.resolve(1);
    assert.equal(subscriber.isLive('a'), true);
    subscriber.down(link);
    await nextTurn();
    assert.deepEqual([subscriber.isLive('a'), isAcknowledged], [false, false], 'read right before the loss');
    subscriber.up(link);
    commands[2]!.resolve(1);
    await acknowledged;
    assert.equal(subscriber.isLive('a'), true);
    subscriber.close();
  });

  it('reports no gap for a channel that was not live when the link was lost', async () => {
    const commands: Command[] = [];
    const { subscriber, link, told } = createSubscriber((command) => void commands.push(command));
    subscriber.subscribe('a', () => undefined);
    await nextTurn();
    subscriber.down(link);
    subscriber.up(link);
    commands[1]!.resolve(1);
    await nextTurn();
    assert.deepEqual([subscriber.isLive('a'), told], [true, []]);
    subscriber.close();
  });

  it('subscribes the last channels after all others at each reconnect', async () => {
    const names: string[] = [];
    const { subscriber, link } = createSubscriber((command) => {
      names.push(...(command.args as string[]));
      command.resolve(1);
    });
    subscriber.subscribeLast('last', () => undefined);
    await subscriber.acknowledged('last');
    const others = Array.from({ length: 600 }, (_, i) => `channel ${i}`);
    for (const name of others) subscriber.subscribe(name, () => undefined);
    await subscriber.acknowledged('channel 599');
    subscriber.down(link);
    names.length = 0;
    subscriber.up(link);
    assert.deepEqual(names, [...others, 'last']);
    subscriber.close();
  });

  it('has no channel that was not subscribed', () => {
    const { subscriber } = createSubscriber();
    subscriber.unsubscribe('a');
    assert.equal(subscriber.isLive('a'), false);
  });

  it('repeats a refused SUBSCRIBE every two seconds until Redis accepts it', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const refusal = Object.assign(new Error('NOPERM no permissions to access a channel'), { name: 'ReplyError' });
    let asked = 0;
    const { subscriber } = createSubscriber((command) => (++asked < 4 ? command.reject(refusal) : command.resolve(1)));
    subscriber.subscribe('a', () => undefined);
    for (let times = 1; times <= 4; times++) {
      await nextTurn();
      assert.deepEqual([asked, subscriber.isLive('a')], [times, times === 4]);
      t.mock.timers.tick(1_999);
      await nextTurn();
      assert.equal(asked, times);
      t.mock.timers.tick(1);
    }
    await nextTurn();
    assert.equal(asked, 4);
    subscriber.close();
  });

  it('keeps ioredis from decoding messages: it has no listener of `message`', () => {
    const { client } = createSubscriber();
    assert.deepEqual(client.eventNames(), ['messageBuffer']);
  });
});
