import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { gatherWrite } from '../../../src/bus/redis/gathered-writes.ts';

/** A stream that keeps the number of chunks of each write that reaches the socket. */
function createStream(): { stream: Writable; writes: number[] } {
  const writes: number[] = [];
  const stream = new Writable({
    write: (_chunk, _encoding, done) => void (writes.push(1), done()),
    writev: (chunks, done) => void (writes.push(chunks.length), done()),
    highWaterMark: 1024 * 1024,
  });
  return { stream, writes };
}

function send(stream: Writable, bytes: number): void {
  gatherWrite(stream, bytes);
  stream.write(Buffer.alloc(bytes));
}

describe('gatherWrite', () => {
  it('writes the commands of promises that settle in the same turn at once', async () => {
    const { stream, writes } = createStream();
    await Promise.all([1, 2, 3].map(() => Promise.resolve().then(() => send(stream, 100))));
    await turn();
    send(stream, 100);
    await turn();
    assert.deepEqual(writes, [3, 1]);
  });

  it('leaves a command that exceeds 64 KiB with those before it, while the turn lasts', async () => {
    const { stream, writes } = createStream();
    send(stream, 100);
    send(stream, 65_536);
    assert.deepEqual(writes, [1, 1]);
    send(stream, 100);
    send(stream, 100);
    assert.deepEqual(writes, [1, 1]);
    await turn();
    assert.deepEqual(writes, [1, 1, 2]);
  });
});
