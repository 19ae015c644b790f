import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { Pacer } from '../../../../src/gateway/fanout/pace/pacer.ts';
import { HeldBytes } from '../../../../src/gateway/fanout/resume/replay-bytes.ts';

describe('Pacer', () => {
  let now = 0;
  /** `at:events` of what was let through. */
  let passed: string[] = [];

  beforeEach(() => {
    now = 0;
    passed = [];
    mock.timers.enable({ apis: ['setTimeout'] });
  });

  afterEach(() => mock.timers.reset());

  function pacerOf(ms: number, bytes = new HeldBytes()) {
    const pacer = new Pacer<string>(
      ms,
      bytes,
      (events) => passed.push(`${now}:${events.join()}`),
      () => now,
    );
    const offer = (key: string, event: string) => {
      if (pacer.isBusy(key)) return pacer.hold(key, event);
      pacer.begin(key);
      passed.push(`${now}:${event}`);
      return undefined;
    };
    return { pacer, offer };
  }

  function tick(ms: number): void {
    for (let i = 0; i < ms; i++) {
      now++;
      mock.timers.tick(1);
    }
  }

  it('lets the first event through at once, and then one for each interval: the newest', () => {
    const { offer } = pacerOf(100);
    offer('a', 'a1');
    tick(10);
    offer('a', 'a2');
    tick(10);
    assert.equal(offer('a', 'a3'), 'a2');
    tick(400);
    offer('a', 'a4');
    assert.deepEqual(passed, ['0:a1', '100:a3', '420:a4']);
  });

  it('keeps the interval of a key while events come at any rate', () => {
    const { offer } = pacerOf(100);
    for (let i = 0; i < 1000; i++) {
      offer('a', `${i}`);
      tick(1);
    }
    assert.deepEqual(
      passed.map((text) => text.split(':')[0]),
      ['0', '100', '200', '300', '400', '500', '600', '700', '800', '900', '1000'],
    );
    assert.equal(passed[1], '100:99');
  });

  it('gives each key an interval of its own, and lets through together what is due together', () => {
    const { offer, pacer } = pacerOf(100);
    offer('a', 'a1');
    offer('b', 'b1');
    tick(50);
    offer('c', 'c1');
    offer('b', 'b2');
    offer('a', 'a2');
    offer('c', 'c2');
    assert.equal(pacer.oldest, 'b2');
    tick(49);
    offer('b', 'b3');
    assert.equal(pacer.oldest, 'a2');
    tick(101);
    assert.deepEqual(passed, ['0:a1', '0:b1', '50:c1', '100:a2,b3', '150:c2']);
  });

  it('forgets a key after an interval without an event, and counts the keys until then', () => {
    const bytes = new HeldBytes();
    const { offer } = pacerOf(100, bytes);
    for (let i = 0; i < 100; i++) offer(`${i}`, 'x');
    assert.ok(bytes.used > 0);
    tick(100);
    assert.equal(bytes.used, 0);
  });

  it('does not delay the events of a key for which the pod has no room', () => {
    const { offer } = pacerOf(100, new HeldBytes(300));
    for (const event of ['a1', 'a2', 'b1', 'b2']) offer(event[0]!, event);
    assert.deepEqual(passed, ['0:a1', '0:b1', '0:b2']);
  });

  it('returns what waits when it is closed, and lets nothing through afterwards', () => {
    const bytes = new HeldBytes();
    const { offer, pacer } = pacerOf(100, bytes);
    for (const event of ['a1', 'a2', 'b1', 'b2']) offer(event[0]!, event);
    assert.deepEqual(pacer.close(), ['a2', 'b2']);
    tick(200);
    assert.equal(passed.length, 2);
    assert.equal(bytes.used, 0);
  });
});
