import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CallTally } from '../../../src/ops/profiling/call-tally.ts';
import { callTree } from '../../../loadtest/profile/call-tree.ts';
import type { Call } from '../../../loadtest/profile/call-tree.ts';
import type { CpuProfileNode } from '../../../src/ops/profiling/cpu-profile.ts';

const INTERVAL_US = 10_000;

function node(id: number, functionName: string, hitCount: number, children: readonly number[] = []): CpuProfileNode {
  return { id, callFrame: { functionName, url: 'file:///a.js', lineNumber: 6, columnNumber: 0 }, hitCount, children };
}

/** `name: own samples of all` for each call of a tally's profile, in its order. */
function linesOf(tally: CallTally): string[] {
  const lines: string[] = [];
  const add = ({ frame, selfUs, totalUs, callees }: Call, level: number): void => {
    lines.push(
      `${'  '.repeat(level)}${frame.functionName}: ${selfUs / INTERVAL_US} of ${Math.round(totalUs / INTERVAL_US)}`,
    );
    for (const callee of callees) add(callee, level + 1);
  };
  add(callTree(tally.profile()), 0);
  return lines;
}

/** A profile whose root calls functions of these names, with one sample each. */
const callsOf = (...names: string[]) => ({
  nodes: [
    node(
      1,
      '(root)',
      0,
      names.map((_, i) => i + 2),
    ),
    ...names.map((name, i) => node(i + 2, name, 1)),
  ],
});

describe('CallTally', () => {
  it('adds samples of equal stacks, and keeps a function apart for each of its callers', () => {
    const tally = new CallTally(INTERVAL_US);
    tally.add({ nodes: [node(1, '(root)', 0, [2]), node(2, 'serve', 1, [3]), node(3, 'parse', 4)] });
    // V8 numbers the calls of each profile anew.
    tally.add({
      nodes: [node(1, '(root)', 0, [2, 3]), node(2, 'parse', 2), node(3, 'serve', 0, [4]), node(4, 'parse', 3)],
    });
    assert.deepEqual(linesOf(tally), ['(root): 0 of 10', '  serve: 1 of 8', '    parse: 7 of 7', '  parse: 2 of 2']);
  });

  it('gives a profile in which each call follows its caller, with the whole time', () => {
    const tally = new CallTally(INTERVAL_US);
    tally.add({
      nodes: [node(1, '(root)', 0, [2, 4]), node(2, 'a', 1, [3]), node(3, 'b', 2), node(4, '(idle)', 5)],
    });
    const { samples, timeDeltas, startTime, endTime } = tally.profile();
    assert.deepEqual(samples, [2, 3, 4, 1]);
    assert.deepEqual(timeDeltas, [0, 10_000, 20_000, 50_000]);
    assert.deepEqual([startTime, endTime], [0, 80_000]);
  });

  it('keeps the samples of calls past its bound as (other) of their caller, and adds to known calls as before', () => {
    const tally = new CallTally(INTERVAL_US, 4);
    tally.add(callsOf('a', 'b', 'c'));
    tally.add(callsOf('a', 'd', 'e'));
    tally.add({ nodes: [node(1, '(root)', 0, [2]), node(2, 'c', 1, [3]), node(3, 'f', 1, [4]), node(4, 'g', 1)] });
    const expected = ['(root): 0 of 9', '  a: 2 of 2', '  b: 1 of 1', '  c: 2 of 4', '    (other): 2 of 2'];
    assert.deepEqual(linesOf(tally), [...expected, '  (other): 2 of 2']);
  });

  it('has no more calls after an hour of new names than after a minute', () => {
    const tally = new CallTally(INTERVAL_US, 100);
    const sizes = [60, 3600].map((seconds) => {
      for (let i = 0; i < seconds; i++) tally.add(callsOf(`compiled${i}`, `again${i}`));
      return tally.profile().nodes.length;
    });
    assert.deepEqual(sizes, [101, 101]);
  });

  it('keeps the first 200 characters of a name, which a client may have chosen', () => {
    const tally = new CallTally(INTERVAL_US);
    tally.add(callsOf('x'.repeat(10_000)));
    assert.deepEqual(linesOf(tally), ['(root): 0 of 1', `  ${'x'.repeat(200)}: 1 of 1`]);
  });
});
