import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Writer } from '../../../../src/gateway/fanout/outbox/writer.ts';
import type { WritableOutbox } from '../../../../src/gateway/fanout/outbox/writer.ts';
import { waitFor } from '../../../support/wait-for.ts';

const LIMITS = { maxQueueBytes: 1000, maxPodQueueBytes: 1000 };

/** Outboxes that record their turns instead of writing. */
function createWriter() {
  const writer = new Writer(LIMITS);
  const turns: string[] = [];
  const refused: string[] = [];
  /** `turnMs`: duration of its turn. */
  function createOutbox(name: string, queuedBytes = 0, turnMs = 0, blockedSince = performance.now()): WritableOutbox {
    writer.count(queuedBytes);
    const outbox: WritableOutbox = {
      queuedBytes,
      blockedSince,
      onTurn: () => {
        turns.push(name);
        for (const end = performance.now() + turnMs; performance.now() < end;);
      },
      refuse: () => {
        refused.push(name);
        writer.count(-queuedBytes);
        writer.backpressured.delete(outbox);
      },
    };
    return outbox;
  }
  return { writer, turns, refused, createOutbox };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('Writer', () => {
  it('writes each outbox once, at the end of the turn, in the order they were scheduled', async () => {
    const { writer, turns, createOutbox } = createWriter();
    for (const name of ['a', 'b', 'c']) writer.schedule(createOutbox(name));
    assert.deepEqual(turns, []);
    await turn();
    assert.deepEqual(turns, ['a', 'b', 'c']);
    writer.schedule(createOutbox('d'));
    await turn();
    await turn();
    assert.deepEqual(turns, ['a', 'b', 'c', 'd']);
  });

  it('writes at once on flush, and does not write again at the end of the turn', async () => {
    const { writer, turns, createOutbox } = createWriter();
    for (const name of ['a', 'b']) writer.schedule(createOutbox(name));
    writer.flush();
    assert.deepEqual(turns, ['a', 'b']);
    writer.flush();
    await turn();
    assert.deepEqual(turns, ['a', 'b']);
  });

  it('stops after 16 writes if its time is spent, and writes the others in later turns', async () => {
    const { writer, turns, createOutbox } = createWriter();
    const names = Array.from({ length: 40 }, (_, i) => String(i));
    for (const name of names) writer.schedule(createOutbox(name, 0, 1));
    writer.flush();
    assert.deepEqual(turns, names.slice(0, 16));
    writer.schedule(createOutbox('last'));
    await waitFor('the other outboxes', () => turns.length === 41);
    assert.deepEqual(turns, [...names, 'last']);
  });

  it('refuses no connection while all queues together are within the bound', () => {
    const { writer, turns, refused, createOutbox } = createWriter();
    const outbox = createOutbox('a', 1000);
    writer.backpressured.add(outbox);
    writer.schedule(outbox);
    writer.keepBound();
    assert.deepEqual([turns, refused], [[], []]);
    writer.count(1);
    writer.keepBound();
    assert.deepEqual(refused, ['a'], 'one byte more is too much');
  });

  it('writes scheduled outboxes, then refuses the largest backpressured queues until the others are within the bound', async () => {
    const { writer, turns, refused, createOutbox } = createWriter();
    const sizes = { small: 100, larger: 600, middle: 400, largest: 700 };
    for (const [name, bytes] of Object.entries(sizes)) writer.backpressured.add(createOutbox(name, bytes));
    for (const name of ['a', 'b']) writer.schedule(createOutbox(name));
    writer.keepBound();
    assert.deepEqual(
      [turns, refused],
      [
        ['a', 'b'],
        ['largest', 'larger'],
      ],
    );
    // 500 bytes remain.
    writer.count(500);
    writer.keepBound();
    assert.equal(refused.length, 2);
    writer.count(1);
    writer.keepBound();
    assert.deepEqual(refused.slice(2), ['middle']);
    await turn();
    assert.deepEqual(turns, ['a', 'b']);
  });

  it('counts the bytes of backpressured sockets apart from those that this turn will write', () => {
    const { writer, createOutbox } = createWriter();
    for (const bytes of [100, 200]) writer.backpressured.add(createOutbox('backpressured', bytes));
    createOutbox('prompt', 400);
    assert.equal(writer.backpressuredBytes, 300);
  });

  it('reports how full the queues are if most sockets are backpressured and not stuck', () => {
    const { writer, createOutbox } = createWriter();
    const MIB = 1024 * 1024;
    for (let i = 0; i < 4; i++) writer.backpressured.add(createOutbox('reads', 4 * MIB));
    assert.equal(writer.fillOf(7), 0.5);
    assert.equal(writer.fillOf(8), 0, 'not most of them');
    const stuck = Array.from({ length: 9 }, () => createOutbox('stuck', MIB, 0, performance.now() - 1_100));
    for (const outbox of stuck) writer.backpressured.add(outbox);
    assert.equal(writer.fillOf(8), 0, 'stuck sockets are not counted');
    assert.equal(writer.fillOf(7), 0.5);
  });

  it('reports that it is full above 16 MiB', () => {
    const { writer, createOutbox } = createWriter();
    createOutbox('a', 16 * 1024 * 1024);
    assert.equal(writer.isFull, false);
    createOutbox('b', 1);
    assert.equal(writer.isFull, true);
  });

  it('refuses no connection whose socket is not backpressured', () => {
    const { writer, refused, createOutbox } = createWriter();
    createOutbox('a', 2000);
    writer.keepBound();
    assert.deepEqual(refused, []);
  });
});
