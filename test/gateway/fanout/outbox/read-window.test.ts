import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ReadWindow } from '../../../../src/gateway/fanout/outbox/read-window.ts';

const EVENT_BYTES = 4096;

/**
 * Sends `burst` events every `burst` ms as far as the window has room, to a client that reads a number of bytes in each ms, `delayMs` later.
 */
function play(bytesPerMs: number | ((ms: number) => number), delayMs: number, ms: number, burst = 1) {
  let now = 0;
  const stream = { bytesWritten: 1000 };
  let read = 0;
  const pings: { text: string; at: number }[] = [];
  const pongs: { text: string; at: number }[] = [];
  const window = new ReadWindow(
    stream,
    (text) => pings.push({ text, at: stream.bytesWritten }),
    () => now,
  );
  let sent = 0;
  let oldest = 0;
  /** When the byte of this number was sent. */
  const sentAt: { end: number; at: number }[] = [];
  for (; now < ms; now++) {
    for (let i = 0; now % burst === 0 && i < burst && !window.isFull(0); i++) {
      stream.bytesWritten += EVENT_BYTES;
      sentAt.push({ end: stream.bytesWritten, at: now });
      sent++;
    }
    read = Math.min(stream.bytesWritten - 1000, read + (typeof bytesPerMs === 'number' ? bytesPerMs : bytesPerMs(now)));
    while (sentAt[0] && sentAt[0].end - 1000 <= read) oldest = Math.max(oldest, now + delayMs - sentAt.shift()!.at);
    while (pings[0] && pings[0].at - 1000 <= read) pongs.push({ text: pings.shift()!.text, at: now + 2 * delayMs });
    while (pongs[0] && pongs[0].at <= now) assert.ok(window.onPong(pongs.shift()!.text));
  }
  return { perSecond: (sent * EVENT_BYTES * 1000) / ms, oldest, window };
}

describe('ReadWindow', () => {
  for (const [rate, delayMs] of [
    [100, 1],
    [100, 150],
    [40, 20],
  ] as const)
    it(`keeps a client busy that reads ${rate} KB/s at ${delayMs} ms, with nothing older than 2 s`, () => {
      const { perSecond, oldest } = play(rate, delayMs, 60_000);
      assert.ok(perSecond > 0.7 * rate * 1000, `${perSecond} bytes a second`);
      assert.ok(oldest <= 2000, `${oldest} ms`);
    });

  for (const burst of [1, 300])
    it(`stays small for a client that reads all with breaks, and then a tenth, of ${burst} events at a time`, () => {
      const reads = (ms: number) => (ms > 20_000 ? 400 : ms % 300 < 150 ? 0 : Infinity);
      const { oldest } = play(reads, 1, 40_000, burst);
      assert.ok(oldest <= 1500, `${oldest} ms`);
    });

  it('grows for a client that is far away, and reads as fast as it is sent', () => {
    const { perSecond, oldest } = play(EVENT_BYTES, 100, 20_000);
    assert.ok(perSecond > 2_000_000, `${perSecond} bytes a second`);
    assert.ok(oldest < 300, `${oldest} ms`);
  });

  it('knows no pong but that of its latest ping', () => {
    const pings: string[] = [];
    const stream = { bytesWritten: 0 };
    const window = new ReadWindow(stream, (text) => pings.push(text));
    assert.equal(window.onPong('read 0'), false);
    stream.bytesWritten = 100_000;
    assert.equal(window.isFull(0), true);
    assert.equal(pings.length, 1);
    assert.equal(window.onPong(''), false);
    assert.notEqual(window.markedAt, undefined);
    assert.equal(window.onPong(pings[0]!), true);
    assert.equal(window.onPong(pings[0]!), false);
    assert.equal(window.isFull(0), false);
    assert.equal(window.isFull(140_000), true);
  });

  it('has a ping on its way whenever it is full', () => {
    const pings: string[] = [];
    const window = new ReadWindow({ bytesWritten: 0 }, (text) => pings.push(text));
    assert.equal(window.isFull(100_000), true);
    assert.equal(pings.length, 1);
  });
});
