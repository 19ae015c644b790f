import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { History } from '../../../../src/bus/history.ts';
import { HeldBytes } from '../../../../src/gateway/fanout/resume/replay-bytes.ts';
import { HeldEvents } from '../../../../src/gateway/fanout/resume/held-events.ts';
import type { ChannelEvent } from '../../../../src/gateway/fanout/channel-event.ts';
import { HistoryReads } from '../../../../src/gateway/fanout/resume/history-reads.ts';

const ENTRY_BYTES = 1_000_000;
const MAX_BYTES = 8 * ENTRY_BYTES;

const seenAt = (time: number) => ({ epoch: 1, partition: 0, offset: time, entry: `${time}-0` });

const entryAt = (time: number, bytes: number) => ({
  payload: Buffer.alloc(bytes),
  coordinates: { ...seenAt(time), timestamp: 0 },
});

/** A history whose reads have the entry asked for and one more, of half a megabyte each. */
const largeRead = (from: string | undefined): Promise<History> => {
  const time = Number.parseInt(from ?? '0');
  return Promise.resolve({ epoch: 1, entries: [time, time + 1].map((at) => entryAt(at, ENTRY_BYTES / 2)) });
};

const createReads = (bytes: HeldBytes, read = largeRead) => new HistoryReads(read, new HeldEvents(bytes), bytes);

describe('reads of a history', () => {
  it('hold no more bytes than the pod has room for, even if each client resumes after an older event', async () => {
    const bytes = new HeldBytes(MAX_BYTES);
    const reads = createReads(bytes);
    for (let time = 200; time > 0; time -= 2) {
      const missed = await reads.missedSince(seenAt(time));
      assert.equal(missed?.entries.length, 1);
      assert.ok(bytes.used <= MAX_BYTES, `${bytes.used} bytes`);
    }
    reads.drop(false);
    assert.equal(bytes.used, 0);
  });

  it('return undefined if the pod has no room for their entries', async () => {
    const bytes = new HeldBytes(MAX_BYTES);
    const reads = createReads(bytes);
    assert.ok(bytes.reserve(MAX_BYTES - ENTRY_BYTES / 2));
    assert.equal(await reads.missedSince(seenAt(2)), undefined);
    assert.equal(bytes.used, MAX_BYTES - ENTRY_BYTES / 2);
    assert.equal((await reads.last())?.entries.length, 2);
  });

  it('are repeated for a cursor after the end of the read from an older cursor', async () => {
    const reads = createReads(new HeldBytes());
    const missed = await Promise.all([50, 2, 10].map((time) => reads.missedSince(seenAt(time))));
    assert.deepEqual(
      missed.map((of) => of?.entries.map(({ coordinates }) => coordinates.offset)),
      [[51], [3], [11]],
    );
  });

  it('begin with the oldest of the cursors that wait, and serve all of these', async () => {
    const froms: (string | undefined)[] = [];
    const read = (from: string | undefined): Promise<History> => {
      froms.push(from);
      const first = Number.parseInt(from!);
      return Promise.resolve({
        epoch: 1,
        entries: Array.from({ length: 21 - first }, (_, i) => entryAt(first + i, 10)),
      });
    };
    const reads = createReads(new HeldBytes(), read);
    const missed = await Promise.all([20, 12, 3, 8].map((time) => reads.missedSince(seenAt(time))));
    assert.deepEqual(
      missed.map((of) => of?.entries.length),
      [0, 8, 17, 12],
    );
    assert.deepEqual(froms, ['20-0', '3-0']);
  });

  it('return the last event from one read until a live event follows, and are repeated if the bus did not answer', async () => {
    let [count, isAway] = [0, true];
    const read = (from: string | undefined) => (count++, isAway ? Promise.resolve(undefined) : largeRead(from));
    const bytes = new HeldBytes();
    const held = new HeldEvents(bytes);
    const reads = new HistoryReads(read, held, bytes);
    assert.equal(await reads.last(), undefined);
    isAway = false;
    for (let i = 0; i < 2; i++) assert.equal((await reads.last())?.entries.length, 2);
    assert.equal(count, 2);
    held.add({ length: 1 } as ChannelEvent);
    await reads.last();
    assert.equal(count, 3);
  });

  it('serve all cursors whose entries are gone from one read', async () => {
    const kept = Array.from({ length: 20 }, (_, i) => entryAt(100 + i, 10));
    let count = 0;
    // As in Redis: a read from a missing entry begins with the next one.
    const read = (from: string | undefined) => {
      count++;
      const time = Number.parseInt(from ?? '0');
      return Promise.resolve({ epoch: 1, entries: kept.filter(({ coordinates }) => coordinates.offset >= time) });
    };
    const reads = createReads(new HeldBytes(), read);
    for (let time = 1; time < 100; time++) assert.equal(await reads.missedSince(seenAt(time)), undefined);
    assert.equal((await reads.missedSince(seenAt(110)))?.entries.length, 9);
    assert.equal(count, 1);
  });

  it('continue after a read that throws, which rejects every request that waits for it', async () => {
    let isBroken = true;
    const read = (from: string | undefined): Promise<History> =>
      isBroken ? Promise.resolve({ epoch: 1, entries: [undefined as never] }) : largeRead(from);
    const reads = createReads(new HeldBytes(MAX_BYTES), read);
    for (const { status } of await Promise.allSettled([reads.missedSince(seenAt(2)), reads.missedSince(seenAt(4))]))
      assert.equal(status, 'rejected');
    await assert.rejects(reads.last(), TypeError);
    isBroken = false;
    assert.equal((await reads.missedSince(seenAt(2)))?.entries.length, 1);
    assert.equal((await reads.last())?.entries.length, 2);
  });

  it('return undefined if live events since the read were dropped, and are repeated for later clients', async () => {
    const bytes = new HeldBytes(MAX_BYTES);
    const held = new HeldEvents(bytes);
    let count = 0;
    const overflow = () => {
      held.add({ length: 2 } as ChannelEvent);
      held.dropBefore(held.end);
    };
    const read = (from: string | undefined) => {
      if (++count === 1) overflow();
      return largeRead(from);
    };
    const reads = new HistoryReads(read, held, bytes);
    assert.equal(await reads.missedSince(seenAt(2)), undefined);
    for (const expected of [2, 2]) {
      assert.equal((await reads.missedSince(seenAt(2)))?.entries.length, 1);
      assert.equal(count, expected);
    }
    overflow();
    assert.equal((await reads.missedSince(seenAt(2)))?.read.sequence, held.first);
    assert.equal(count, 3);
  });

  it('resume waiting clients over several turns of the event loop, at most 64 in each', async () => {
    const reads = createReads(new HeldBytes(MAX_BYTES));
    let turn = 0;
    const turns: number[] = [];
    const count = () => {
      turn++;
      if (turns.length < 200) setImmediate(count);
    };
    setImmediate(count);
    await Promise.all(Array.from({ length: 200 }, () => reads.missedSince(seenAt(2)).then(() => turns.push(turn))));
    for (const one of new Set(turns)) assert.ok(turns.filter((other) => other === one).length <= 64);
  });
});
