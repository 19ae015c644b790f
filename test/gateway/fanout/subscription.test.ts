import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ConnectionFacts } from '../../../src/graph/context/connection-facts.ts';
import { TRANSPORT_WS } from '../../../src/gateway/websocket/transport-ws.ts';
import { resultBytesOf, ResultBytes } from '../../../src/gateway/fanout/outbox/frame.ts';
import { Subscription } from '../../../src/gateway/fanout/subscription.ts';
import type { SubscriptionOptions } from '../../../src/gateway/fanout/subscription.ts';

function createSubscription(maxPendingEvents: number) {
  const counts = { sent: 0, refusals: 0 };
  const messages: string[] = [];
  const prefixes = new Set<Buffer>();
  const failures: unknown[] = [];
  const outbox = {
    format: TRANSPORT_WS,
    isBackpressured: false,
    passRoom: () => undefined,
    sendParts: (prefix: Buffer, { pieces }: ResultBytes) => {
      counts.sent++;
      prefixes.add(prefix);
      messages.push(Buffer.concat([prefix, ...pieces]).toString());
    },
  };
  const owner = { onFailure: (error: unknown) => void failures.push(error), onBehind: () => void counts.refusals++ };
  const options = { id: '1', outbox, owner, maxPendingEvents } as unknown as SubscriptionOptions;
  return { subscription: new Subscription(options), outbox, counts, messages, prefixes, failures };
}

const resultOf = (json: string) => resultBytesOf([Buffer.from(json.slice(0, -1))]);
const messageOf = (payload: string) => `{"id":"1","type":"next","payload":${payload}}`;

describe('the results of a subscription', () => {
  it('are sent in the order of their events, whichever execution ends first', () => {
    const { subscription, messages, prefixes } = createSubscription(10);
    const [first, second] = [subscription.reserve(), subscription.reserve()];
    subscription.deliver(resultOf('{"c":3}'));
    subscription.deliver(resultOf('{"b":2}'), second);
    assert.deepEqual(messages, []);
    subscription.deliver(resultOf('{"a":1}'), first);
    subscription.deliver(resultOf('{"d":4}'));
    assert.deepEqual(messages, ['{"a":1}', '{"b":2}', '{"c":3}', '{"d":4}'].map(messageOf));
    assert.equal(prefixes.size, 1, 'a prefix for each message');
  });

  it('lag while one waits for its execution, or while the socket is backpressured', () => {
    const { subscription, outbox } = createSubscription(10);
    assert.equal(subscription.isLagging, false);
    const slot = subscription.reserve();
    assert.equal(subscription.isLagging, true);
    subscription.deliver(resultOf('{"a":1}'), slot);
    assert.equal(subscription.isLagging, false);
    outbox.isBackpressured = true;
    assert.equal(subscription.isLagging, true);
  });

  it('take no note after the end: nobody receives it', () => {
    const { subscription } = createSubscription(10);
    subscription.end();
    assert.equal(subscription.note('"gap":true'), false);
  });

  it('carry each note once, in the next message', () => {
    const { subscription, messages } = createSubscription(10);
    assert.equal(subscription.note('"gap":true'), true);
    assert.equal(subscription.note('"gap":true'), false);
    assert.equal(subscription.note('"resumed":false'), true);
    subscription.deliver(resultOf('{"a":1}'));
    subscription.deliver(resultOf('{"b":2}'));
    assert.equal(subscription.note('"gap":true'), true);
    assert.deepEqual(messages, ['{"a":1,"extensions":{"gap":true,"resumed":false}}', '{"b":2}'].map(messageOf));
  });

  it('carry a note that begins one that is pending', () => {
    const { subscription } = createSubscription(10);
    assert.equal(subscription.note('"skipped":12'), true);
    assert.equal(subscription.note('"skipped":1'), true);
  });

  it('are followed by a callback that has waited for them, with the notes of the next one', () => {
    const { subscription, messages } = createSubscription(10);
    const slot = subscription.reserve();
    const told: unknown[] = [];
    subscription.note('"gap":true');
    subscription.afterResults((notes) => told.push(notes, messages.length));
    subscription.deliver(resultOf('{"b":2}'));
    assert.equal(told.length, 0);
    subscription.deliver(resultOf('{"a":1}'), slot);
    assert.deepEqual(told.slice(), [undefined, 1]);
    assert.deepEqual(messages, ['{"a":1}', '{"b":2,"extensions":{"gap":true}}'].map(messageOf));
    subscription.note('"resumed":true');
    subscription.afterResults((notes) => told.push(notes, messages.length));
    assert.deepEqual(told.slice(2), ['"resumed":true', 2]);
    assert.equal(subscription.isLagging, false);
  });

  it('are not sent after its end, with or without a slot', () => {
    const { subscription, messages } = createSubscription(10);
    const slot = subscription.reserve();
    subscription.end();
    assert.equal(subscription.isEnded, true);
    subscription.deliver(resultOf('{"a":1}'), slot);
    subscription.deliver(resultOf('{"b":2}'));
    assert.deepEqual(messages, []);
  });

  it('end at the first failure, which is reported once, and never after the end', () => {
    const { subscription, messages, failures } = createSubscription(10);
    const failure = new Error('of an execution');
    const slot = subscription.reserve();
    subscription.fail(failure);
    subscription.fail(failure);
    subscription.deliver(resultOf('{"a":1}'), slot);
    assert.deepEqual([subscription.isEnded, failures, messages], [true, [failure], []]);
    const ended = createSubscription(10);
    ended.subscription.end();
    ended.subscription.fail(failure);
    assert.deepEqual(ended.failures, []);
  });
});

describe('the results that a subscription waits for', () => {
  it('do not count those who wait for them', () => {
    const { subscription, counts } = createSubscription(10);
    const slot = subscription.reserve();
    let woken = 0;
    for (let i = 0; i < 20; i++) subscription.awaitRoom('lagging', () => void woken++)();
    subscription.awaitRoom('lagging', () => void woken++);
    const last = subscription.reserve();
    assert.equal(counts.refusals, 0);
    subscription.deliver(resultOf('{"a":1}'), slot);
    assert.equal(woken, 1);
    subscription.deliver(resultOf('{"b":2}'), last);
    assert.equal(counts.sent, 2);
  });

  it('are bounded: one more closes the connection as a slow consumer', () => {
    const { subscription, counts } = createSubscription(10);
    for (let i = 0; i < 11; i++) subscription.reserve();
    assert.equal(counts.refusals, 1);
  });

  it('may exceed the bound by the number of replayed events', () => {
    const { subscription, counts } = createSubscription(10);
    subscription.expectReplay(20);
    subscription.expectReplay(5);
    const slots = Array.from({ length: 30 }, () => subscription.reserve());
    assert.equal(counts.refusals, 0);
    subscription.reserve();
    assert.equal(counts.refusals, 1);
    for (const slot of slots) subscription.deliver(new ResultBytes([Buffer.from('{}')]), slot);
    assert.equal(counts.sent, 30);
  });
});

describe('a subscription with new facts', () => {
  const [old, renewed] = [{ id: 'old' }, { id: 'renewed' }] as unknown as ConnectionFacts[];

  it('sends nothing until it is confirmed, then all results in the order of events', () => {
    const { subscription, messages } = createSubscription(10);
    const running = subscription.reserve();
    subscription.hold(renewed!);
    assert.equal(subscription.facts, renewed);
    assert.equal(subscription.isLagging, true);
    subscription.deliver(resultOf('{"b":2}'));
    subscription.deliver(resultOf('{"a":1}'), running);
    assert.deepEqual(messages, []);
    subscription.confirm();
    assert.deepEqual(messages, ['{"a":1}', '{"b":2}'].map(messageOf));
    assert.equal(subscription.isLagging, false);
    subscription.deliver(resultOf('{"c":3}'));
    assert.equal(messages.length, 3);
  });

  it('needs one confirmation, however often its facts were replaced', () => {
    const { subscription, messages } = createSubscription(10);
    subscription.hold(old!);
    subscription.hold(renewed!);
    subscription.deliver(resultOf('{"a":1}'));
    subscription.confirm();
    subscription.confirm();
    assert.deepEqual(messages, ['{"a":1}'].map(messageOf));
  });

  it('waits for the executions before, after it is confirmed', () => {
    const { subscription, messages } = createSubscription(10);
    const running = subscription.reserve();
    subscription.hold(renewed!);
    subscription.confirm();
    subscription.deliver(resultOf('{"b":2}'));
    assert.deepEqual(messages, []);
    subscription.deliver(resultOf('{"a":1}'), running);
    assert.deepEqual(messages, ['{"a":1}', '{"b":2}'].map(messageOf));
  });

  it('sends nothing if it ends before it is confirmed', () => {
    const { subscription, messages } = createSubscription(10);
    subscription.hold(renewed!);
    subscription.deliver(resultOf('{"a":1}'));
    subscription.end();
    subscription.confirm();
    subscription.hold(old!);
    assert.deepEqual([messages, subscription.facts], [[], renewed]);
  });

  it('refuses the connection when more results wait than may', () => {
    const { subscription, counts } = createSubscription(2);
    subscription.hold(renewed!);
    for (let n = 0; n < 3; n++) subscription.deliver(resultOf('{"a":1}'));
    assert.equal(counts.refusals, 1);
  });
});
