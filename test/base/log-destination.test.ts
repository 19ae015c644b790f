import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { LogDestination } from '../../src/base/log-destination.ts';

const LINE = `${'x'.repeat(1023)}\n`;
/** Most lines that wait: 8 MiB of them. */
const MAX_WAITING_LINES = 8192;

/** A stream whose reader accepts one write at a time, when the test says so. */
class HeldStream extends Writable {
  readonly texts: string[] = [];
  #done: ((error?: Error) => void) | undefined;

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    this.texts.push(chunk.toString());
    this.#done = done;
  }

  get isWriting(): boolean {
    return this.#done !== undefined;
  }

  /** Ends the current write. Resolves when the next one, if any, has begun. */
  async take(error?: Error): Promise<void> {
    const done = this.#done;
    this.#done = undefined;
    done?.(error);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function setUp() {
  const stream = new HeldStream();
  stream.on('error', () => undefined);
  const destination = new LogDestination(stream);
  const reports: number[] = [];
  destination.onRecovery((lines) => {
    reports.push(lines);
    destination.write(`dropped ${lines}\n`);
  });
  return { stream, destination, reports };
}

describe('LogDestination', () => {
  it('keeps 8 MiB while the reader is slow, drops further lines, and reports their count where they are missing', async () => {
    const { stream, destination, reports } = setUp();
    for (let i = 0; i < MAX_WAITING_LINES + 500; i++) destination.write(LINE);
    assert.equal(destination.droppedLines, 500);
    await stream.take();
    destination.write(LINE);
    assert.equal(destination.droppedLines, 501, 'nothing is accepted before half of it has been taken');
    while (reports.length === 0) await stream.take();
    destination.write('after\n');
    while (stream.isWriting) await stream.take();
    assert.deepEqual(reports, [501]);
    const text = stream.texts.join('');
    assert.ok(text === `${LINE.repeat(MAX_WAITING_LINES)}dropped 501\nafter\n`);
  });

  it('ends the logging at EPIPE: it writes no more lines, counts them all as dropped, and flushes at once', async () => {
    const { stream, destination, reports } = setUp();
    for (let i = 0; i < 3; i++) destination.write(LINE);
    let flushes = 0;
    destination.flush(() => flushes++);
    await stream.take(Object.assign(new Error('no reader'), { code: 'EPIPE' }));
    destination.write(LINE);
    destination.flush(() => flushes++);
    assert.deepEqual([flushes, stream.texts.length, destination.droppedLines, reports], [2, 1, 4, []]);
  });

  it('counts the lines of a write that fails for another reason, and reports them after the next successful write', async () => {
    const reports: number[] = [];
    const failures = [Object.assign(new Error('disk full'), { code: 'ENOSPC' }), undefined];
    const disk = {
      write: (_text: string, done: (error?: Error) => void) => setImmediate(() => done(failures.shift())),
    };
    const destination = new LogDestination(disk as unknown as Writable);
    destination.onRecovery((lines) => reports.push(lines));
    destination.write(LINE);
    destination.write(LINE);
    await new Promise<void>((resolve) => destination.flush(resolve));
    assert.deepEqual([destination.droppedLines, reports], [1, [1]]);
  });

  it('flushes the lines written before, and waits at most three seconds for a reader that reads nothing', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { stream, destination } = setUp();
    const flushed: string[] = [];
    destination.flush(() => flushed.push('nothing to write'));
    destination.write(LINE);
    destination.flush(() => flushed.push('taken'));
    assert.deepEqual(flushed, ['nothing to write']);
    await stream.take();
    assert.deepEqual(flushed, ['nothing to write', 'taken']);
    destination.write(LINE);
    destination.flush(() => flushed.push('given up'));
    t.mock.timers.tick(2999);
    assert.equal(flushed.length, 2);
    t.mock.timers.tick(1);
    await stream.take();
    assert.deepEqual(flushed, ['nothing to write', 'taken', 'given up']);
  });
});
