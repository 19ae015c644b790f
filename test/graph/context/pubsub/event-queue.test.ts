import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EventQueue } from '../../../../src/graph/context/pubsub/event-queue.ts';

function queued() {
  const calls: string[] = [];
  const queue = new EventQueue(
    () => calls.push('gap'),
    () => calls.push('returned'),
    () => undefined,
  );
  const read = async () => {
    const result = await queue.next();
    calls.push(result.done ? 'done' : String(result.value));
  };
  return { queue, calls, read };
}

describe('EventQueue', () => {
  it('returns events in order, whether they or their readers came first', async () => {
    const { queue, calls, read } = queued();
    queue.push(1, 1);
    queue.push(2, 1);
    await read();
    await read();
    const waiting = [read(), read()];
    queue.push(3, 1);
    queue.push(4, 1);
    await Promise.all(waiting);
    assert.deepEqual(calls, ['1', '2', '3', '4']);
  });

  it('drops the oldest events when more than 1,000 wait, and reports the gap with the next event', async () => {
    const { queue, calls, read } = queued();
    for (let i = 0; i < 1003; i++) queue.push(i, 1);
    await read();
    await read();
    assert.deepEqual(calls, ['gap', '3', '4']);
  });

  it('keeps at most 1 MiB, or one larger event', async () => {
    const { queue, calls, read } = queued();
    for (let i = 0; i < 5; i++) queue.push(i, 300 * 1024);
    await read();
    queue.push('large', 10 * 1024 * 1024);
    await read();
    assert.deepEqual(calls, ['gap', '2', 'gap', 'large']);
    queue.push('small', 1);
    await read();
    assert.deepEqual(calls.slice(4), ['small']);
  });

  it('reports a gap between events with the event that follows it', async () => {
    const { queue, calls, read } = queued();
    queue.push(1, 1);
    queue.noteGap();
    queue.push(2, 1);
    queue.push(3, 1);
    for (let i = 0; i < 3; i++) await read();
    assert.deepEqual(calls, ['1', 'gap', '2', '3']);
  });

  it('ends readers that wait and every later one, and returns once', async () => {
    const { queue, calls, read } = queued();
    const waiting = [read(), read()];
    await queue.return();
    queue.end();
    await Promise.all(waiting);
    queue.push(1, 1);
    await read();
    assert.deepEqual(calls, ['returned', 'done', 'done', 'done']);
  });

  it('rejects after the events that came before a failure, once', async () => {
    const { queue, calls, read } = queued();
    queue.push(1, 1);
    queue.fail(new Error('away'));
    await read();
    await assert.rejects(read(), /away/);
    await read();
    assert.deepEqual(calls, ['returned', '1', 'done']);
  });

  it('is ended by throw()', async () => {
    const { queue, calls, read } = queued();
    queue.push(1, 1);
    await assert.rejects(queue.throw(new Error('mine')), /mine/);
    await read();
    assert.deepEqual(calls, ['returned', 'done']);
  });
});
