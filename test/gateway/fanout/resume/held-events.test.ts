import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HeldBytes } from '../../../../src/gateway/fanout/resume/replay-bytes.ts';
import { HeldEvents, heldLength } from '../../../../src/gateway/fanout/resume/held-events.ts';
import type { ChannelEvent } from '../../../../src/gateway/fanout/channel-event.ts';

const eventOf = (length: number) => ({ length }) as ChannelEvent;
const EVENTS = [100, 200, 300].map(eventOf);

describe('held events', () => {
  it('keep their sequence numbers while older events are dropped, and release their bytes', () => {
    const heldBytes = new HeldBytes();
    const held = new HeldEvents(heldBytes);
    for (const event of EVENTS) assert.equal(held.add(event), true);
    const bytes = EVENTS.map(({ length }) => heldLength(length));
    for (let first = 0; first <= 3; first++) {
      held.dropBefore(first);
      held.dropBefore(first - 1);
      assert.deepEqual([held.first, held.end], [first, 3]);
      const left = bytes.slice(first).reduce((sum, of) => sum + of, 0);
      assert.deepEqual([held.bytes, heldBytes.used], [left, left]);
      for (const [i, event] of EVENTS.entries()) assert.equal(held.at(i), i < first ? undefined : event);
    }
    held.dropBefore(5);
    assert.equal(held.add(EVENTS[0]!), true);
    assert.deepEqual([held.first, held.end, held.at(5)], [5, 6, EVENTS[0]]);
  });

  it('are refused if the pod has no room for their payload and overhead', () => {
    const held = new HeldEvents(new HeldBytes(2 * heldLength(100)));
    assert.ok(heldLength(100) > 100);
    assert.deepEqual(
      [100, 100, 100].map((length) => held.add(eventOf(length))),
      [true, true, false],
    );
    assert.deepEqual([held.end, held.bytes], [2, 2 * heldLength(100)]);
  });
});

describe('held bytes of a pod', () => {
  it('are bounded, short above a half and ample below a quarter', () => {
    const held = new HeldBytes(1000);
    const stateAt = (bytes: number) => {
      held.add(bytes - held.used);
      return [held.isAmple, held.isShort];
    };
    assert.deepEqual([0, 249, 250, 500, 501].map(stateAt), [
      [true, false],
      [true, false],
      [false, false],
      [false, false],
      [false, true],
    ]);
    held.release(501);
    assert.deepEqual([held.reserve(1000), held.reserve(1), held.used], [true, false, 1000]);
    held.add(1);
    assert.equal(held.used, 1001);
  });

  it('are bounded by 64 MiB by default', () => {
    const held = new HeldBytes();
    assert.deepEqual([held.reserve(64 * 1024 * 1024), held.reserve(1)], [true, false]);
  });
});
