import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { longestSilence, stepFigures } from '../../../loadtest/rebalance/step-figures.ts';

const owners = (names: string) => new Map([...names].map((name, partition) => [partition, name]));

describe('stepFigures', () => {
  it('counts the partitions that moved, and those of them that the restarted worker neither had nor gets', () => {
    const { moved, foreign, kept } = stepFigures({
      ...{ step: 'leave', restarted: 'c', before: owners('aabbcc'), after: owners('abbbaa') },
      ...{ quiet: [0, 0, 0, 0, 0, 0], during: [0, 0, 0, 0, 0, 0] },
    });
    assert.deepEqual([moved, foreign, kept], [3, 1, 3]);
    const join = stepFigures({
      ...{ step: 'join', restarted: 'c', before: owners('aabb'), after: owners('acab') },
      ...{ quiet: [0, 0, 0, 0], during: [0, 0, 0, 0] },
    });
    assert.deepEqual([join.moved, join.foreign, join.kept], [2, 1, 2]);
  });

  it('compares each silence with that of the same partition before the step', () => {
    const { keptMs, movedMs, quietMs } = stepFigures({
      ...{ step: 'leave', restarted: 'b', before: owners('aab'), after: owners('aaa') },
      ...{ quiet: [100, 400, 100], during: [350, 500, 900] },
    });
    assert.deepEqual([keptMs, movedMs, quietMs], [250, 800, 400]);
  });
});

describe('longestSilence', () => {
  it('counts a silence that began before the window and ended within it', () => {
    assert.equal(longestSilence([0, 10, 50, 60, 200], 40, 100), 40);
  });

  it('is 0 where nothing arrived', () => {
    assert.equal(longestSilence([], 0, 100), 0);
    assert.equal(longestSilence([5], 0, 100), 0);
  });
});
