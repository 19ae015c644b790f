import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Remote } from '../../../loadtest/processes/process-call.ts';
import type { StoryClient } from '../../../loadtest/story/client/client.ts';
import { drain, openLoopFlood, closedLoopFlood } from '../../../loadtest/story/flood/flood.ts';
import { Lanes, sumOfLanes } from '../../../loadtest/story/flood/lanes.ts';
import type { RecordWriter } from '../../../loadtest/story/flood/record-writer.ts';

const copies = { copy: (copy: number) => `${copy}\n`, warmUp: () => '' };

/** Two writers that record the numbers written. */
function twoWriters(): { writers: RecordWriter[]; numbers: number[][] } {
  const numbers: number[][] = [[], []];
  const writers = numbers.map((given) => ({
    write: (lines: string) => Promise.resolve(void given.push(...lines.trimEnd().split('\n').map(Number))),
    close: () => Promise.resolve(),
  }));
  return { writers, numbers };
}

/** A client whose slowest socket has received `least()` copies. */
function clientOf(least: () => number | undefined): Remote<StoryClient> {
  return {
    progress: () => Promise.resolve({ delivered: 0, least: least(), cpuMs: 0 }),
  } as unknown as Remote<StoryClient>;
}

const { signal } = new AbortController();

describe('Lanes', () => {
  it('number the copies of each writer and sum the numbers', () => {
    const lanes = new Lanes(3);
    const taken = [0, 0, 2, 1, 0].map((lane) => lanes.take(lane));
    assert.deepEqual(taken, [0, 3, 2, 1, 6]);
    assert.deepEqual([lanes.counts, lanes.total], [[3, 1, 1], 5]);
    assert.equal(
      sumOfLanes(lanes.counts),
      taken.reduce((a, b) => a + b),
    );
  });
});

describe('a closed-loop flood', () => {
  it('keeps at most `ahead` records in flight, alternates the writers, and ends when no socket is open', async () => {
    const { writers, numbers } = twoWriters();
    const lanes = new Lanes(2);
    const leasts = [0, 2, undefined];
    await closedLoopFlood({ client: clientOf(() => leasts.shift()), writers, copies, lanes, seconds: 60, signal }, 3);
    assert.deepEqual(numbers, [
      [0, 2, 4],
      [1, 3],
    ]);
    assert.equal(lanes.total, 5);
  });
});

describe('an open-loop flood', () => {
  /** Floods until the client, called after each burst, has no open socket. */
  async function floodWhile(answers: ((lanes: Lanes) => number | undefined)[]) {
    const { writers, numbers } = twoWriters();
    const lanes = new Lanes(2);
    lanes.take(0);
    const client = clientOf(() => answers.shift()!(lanes));
    const rate = await openLoopFlood({ client, writers, copies, lanes, seconds: 600, signal }, 4);
    return { rate, numbers };
  }

  it('continues to write when nothing is delivered, and ends when no socket is open', async () => {
    const { rate, numbers } = await floodWhile([() => 0, () => undefined]);
    assert.equal(rate, 4);
    assert.deepEqual(numbers, [
      [2, 4, 6, 8],
      [1, 3, 5, 7],
    ]);
  });

  it('doubles its rate when everything has been delivered', async () => {
    const { rate, numbers } = await floodWhile([({ total }) => total, () => undefined]);
    assert.equal(rate, 8);
    assert.equal(numbers.flat().length, 4 + 8);
  });
});

describe('the drain of a flood', () => {
  it('reports that messages have stopped arriving while it waits for the rest', { timeout: 10_000 }, async () => {
    const lost = new AbortController();
    const notes: string[] = [];
    const note = (line: string) => {
      notes.push(line);
      lost.abort();
    };
    await assert.rejects(
      drain(
        clientOf(() => 4),
        5,
        { seconds: 60, signal: lost.signal, say: note },
      ),
      { name: 'AbortError' },
    );
    assert.deepEqual(notes, ['No message has arrived for 3 s; the drain ends after 30 s without one.']);
  });
});
