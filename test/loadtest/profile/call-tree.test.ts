import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { callTree } from '../../../loadtest/profile/call-tree.ts';
import type { CpuProfile } from '../../../src/ops/profiling/cpu-profile.ts';

function node(id: number, functionName: string, children: readonly number[] = []) {
  return { id, callFrame: { functionName, url: '', lineNumber: 6, columnNumber: 0 }, children };
}

const profile: CpuProfile = {
  nodes: [node(1, '(root)', [2, 3, 4]), node(2, '(idle)'), node(3, 'read', [5]), node(4, 'other'), node(5, 'parse')],
  samples: [3, 5, 2, 4, 5],
  // The last sample has no time of its own.
  timeDeltas: [100, 300, 500, 9000, 200],
};

describe('callTree', () => {
  it('gives each sample the time until the next one, without idle time', () => {
    const root = callTree(profile);
    assert.deepEqual(root.callees.map(({ frame }) => frame.functionName), ['read', 'other']); // prettier-ignore
    const [read, other] = root.callees;
    assert.deepEqual([root.totalUs, read!.totalUs, read!.selfUs, other!.totalUs], [1000, 800, 300, 200]);
  });
});
