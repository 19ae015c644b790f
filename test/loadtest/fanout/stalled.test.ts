import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stalledRows, stalledTable } from '../../../loadtest/fanout/stalled.ts';
import { faultsOf } from '../../../loadtest/fanout/summary.ts';
import type { Sample } from '../../../loadtest/fanout/trial.ts';
import { MEBIBYTE, sample } from './sample.ts';

const withStalled = (change: Partial<Sample>) =>
  sample({ stalled: 40, slowConsumers: 40, stalledByCloseCode: { 1013: 40 }, ...change });

describe('stalledRows', () => {
  it('compares a window with stalled sockets with the one without them of the same round', () => {
    const rounds = [
      [sample({ p99Ms: 100 }), withStalled({ p99Ms: 104, peakResidentBytes: 120 * MEBIBYTE })],
      [withStalled({ p99Ms: 206, peakResidentBytes: 130 * MEBIBYTE }), sample({ p99Ms: 200 })],
      [sample({ p99Ms: 300 }), withStalled({ p99Ms: 330 })],
    ];
    const [row, ...others] = stalledRows(rounds, MEBIBYTE);
    assert.deepEqual(others, []);
    assert.equal(row!.p99Ratio, 1.04);
    assert.deepEqual([row!.p99AloneMs, row!.p99Ms], [200, 206]);
    assert.deepEqual([row!.growthAloneBytes, row!.growthBytes], [10 * MEBIBYTE, 30 * MEBIBYTE]);
    assert.equal(row!.maxGrowthBytes, 44 * MEBIBYTE);
    assert.deepEqual([row!.closed, row!.byCloseCode, row!.lost], [40, { 1013: 120 }, 0]);
    assert.equal(stalledTable([row!])[1]!.at(-1), 'all');
  });

  it('reports each broken promise', () => {
    const broken = { p99Ms: 111, delivered: 999, slowConsumers: 39, peakResidentBytes: 150 * MEBIBYTE };
    const rows = stalledRows([[sample({}), withStalled(broken)]], MEBIBYTE);
    assert.equal(stalledTable(rows)[1]!.at(-1), 'NOT: deliveries, NOT: p99, NOT: 1013, NOT: memory');
  });

  it('works without unstalled windows and without a server that counts closes', () => {
    const alone = withStalled({});
    delete (alone as { slowConsumers?: number }).slowConsumers;
    const [row] = stalledRows([[alone]], MEBIBYTE);
    assert.deepEqual([row!.p99Ratio, row!.growthAloneBytes, row!.closed], [undefined, undefined, undefined]);
  });
});

describe('faultsOf', () => {
  it('reports a fault when the server did not close every stalled socket', () => {
    assert.deepEqual(faultsOf(withStalled({})), []);
    assert.match(faultsOf(withStalled({ slowConsumers: 12 })).join(), /12 of 40 sockets .* closed with 1013/);
  });
});
