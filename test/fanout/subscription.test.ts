import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Rest } from '../../src/fanout/frame.ts';
import { Subscription } from '../../src/fanout/subscription.ts';
import type { SubscriptionOptions } from '../../src/fanout/subscription.ts';

function createSubscription(maxPendingEvents: number) {
  const counts = { sent: 0, refusals: 0 };
  const outbox = { sendParts: () => void counts.sent++, refuse: () => void counts.refusals++ };
  const options = { id: '1', outbox, maxPendingEvents } as unknown as SubscriptionOptions;
  return { subscription: new Subscription(options), counts };
}

describe('the results that a subscription waits for', () => {
  it('are bounded: one more makes a slow consumer', () => {
    const { subscription, counts } = createSubscription(10);
    for (let i = 0; i < 11; i++) subscription.reserve();
    assert.equal(counts.refusals, 1);
  });

  it('may be as many more as are replayed at once', () => {
    const { subscription, counts } = createSubscription(10);
    subscription.expectReplay(20);
    subscription.expectReplay(5);
    const places = Array.from({ length: 30 }, () => subscription.reserve());
    assert.equal(counts.refusals, 0);
    subscription.reserve();
    assert.equal(counts.refusals, 1);
    for (const place of places) subscription.deliver(new Rest([Buffer.from('{}')]), place);
    assert.equal(counts.sent, 30);
  });
});
