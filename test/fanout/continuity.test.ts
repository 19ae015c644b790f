import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Continuity } from '../../src/fanout/continuity.ts';

const at = (epoch: number, partition: number, offset: number) => ({ epoch, partition, offset, timestamp: 0 });

describe('Continuity', () => {
  it('accepts each message of a partition once, in order, whatever offsets are missing between them', () => {
    const continuity = new Continuity();
    const verdicts = [at(5, 0, 7), at(5, 0, 7), at(5, 1, 2), at(5, 0, 6), at(5, 0, 99), at(5, 1, 3)];
    assert.deepEqual(
      verdicts.map((coordinates) => continuity.observe(coordinates)),
      ['next', 'stale', 'next', 'stale', 'next', 'next'],
    );
  });

  it('returns `gap` once at a new epoch, and `stale` for later messages of the old one', () => {
    const continuity = new Continuity();
    const verdicts = [at(5, 0, 7), at(6, 0, 0), at(5, 0, 8), at(6, 1, 0), at(6, 0, 0)];
    assert.deepEqual(
      verdicts.map((coordinates) => continuity.observe(coordinates)),
      ['next', 'gap', 'stale', 'next', 'stale'],
    );
  });

  it('accepts the messages of a new epoch, even if their offsets are lower', () => {
    const continuity = new Continuity();
    const verdicts = [at(5, 0, 7), at(5, 1, 9), at(6, 0, 0), at(6, 1, 3), at(6, 1, 3)];
    assert.deepEqual(
      verdicts.map((coordinates) => continuity.observe(coordinates)),
      ['next', 'next', 'gap', 'next', 'stale'],
    );
  });
});
