import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Continuity } from '../../../src/gateway/fanout/continuity.ts';

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

  it('returns to an older epoch with its third new message, unless one of the present epoch comes between', () => {
    const continuity = new Continuity();
    const forged = 9_007_199_254_740_000;
    const verdicts = [
      ...[at(5, 0, 7), at(forged, 0, forged), at(5, 0, 8), at(5, 1, 2), at(5, 0, 9), at(5, 0, 10), at(5, 0, 10)],
      ...[at(6, 0, 0), at(5, 0, 10), at(5, 0, 11), at(5, 0, 12), at(6, 0, 1), at(5, 0, 13), at(5, 0, 14), at(6, 0, 2)],
    ];
    assert.deepEqual(
      verdicts.map((coordinates) => continuity.observe(coordinates)),
      [
        ...['next', 'gap', 'stale', 'stale', 'older', 'next', 'stale'],
        ...['gap', 'stale', 'stale', 'stale', 'next', 'stale', 'stale', 'next'],
      ],
    );
  });

  it('never returns to an epoch by its messages that were observed before', () => {
    const continuity = new Continuity();
    const before = Array.from({ length: 8 }, (_, offset) => at(5, 0, offset));
    for (const position of [...before, at(6, 0, 0)]) continuity.observe(position);
    assert.deepEqual(new Set(before.map((position) => continuity.observe(position))), new Set(['stale']));
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
