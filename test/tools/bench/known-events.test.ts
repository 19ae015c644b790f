import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KnownEvents } from '../../../src/tools/bench/known-events.ts';
import type { KnownEvent } from '../../../src/tools/bench/known-events.ts';

function known() {
  const settled: KnownEvent[] = [];
  const events = new KnownEvents((event) => settled.push(event));
  const add = (text: string) =>
    events.add({ bytes: Buffer.from(text), firstAt: 0, sentAt: undefined, hasErrors: false });
  return { events, settled, add, find: (text: string, from: number) => events.find(Buffer.from(text), from)?.number };
}

describe('the known events of a fan-out', () => {
  it('are found by their bytes from the position of a socket', () => {
    const { add, find } = known();
    for (const text of ['a', 'b', 'c']) add(text);
    assert.deepEqual([find('a', 0), find('c', 1), find('a', 1), find('d', 0)], [0, 2, undefined, undefined]);
  });

  it('cannot be told apart once two have equal bytes', () => {
    const { events, add } = known();
    add('a');
    add('b');
    assert.equal(events.hasAlike, false);
    add('a');
    assert.equal(events.hasAlike, true);
  });

  it('are of one socket each if none came twice', () => {
    const { events, add } = known();
    const [first, second] = [add('a'), add('b')];
    events.delivered(first, 1);
    events.delivered(second, 2);
    assert.equal(events.areOwn, true);
    events.delivered(second, 3);
    assert.equal(events.areOwn, false);
    assert.deepEqual([second.received, second.lastAt], [2, 3]);
  });

  it('are settled and forgotten, the oldest first, beyond 4,096 events or 64 MiB', () => {
    const many = known();
    for (let n = 0; n < 4100; n++) many.add(`${n}`);
    assert.deepEqual(
      many.settled.map(({ number }) => number),
      [0, 1, 2, 3],
    );
    assert.equal(many.find('4099', 0), 4099);
    const large = known();
    for (const text of ['a', 'b', 'c']) large.add(text.repeat(30 * 1024 * 1024));
    assert.equal(large.settled.length, 1);
    large.events.settleAll();
    assert.equal(large.settled.length, 3);
  });
});
