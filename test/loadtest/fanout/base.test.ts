import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { baseTable } from '../../../loadtest/fanout/report.ts';
import { summarize } from '../../../loadtest/fanout/summary.ts';
import { sample } from './sample.ts';

describe('summarize with a base', () => {
  it('compares with the same server in the same round and takes the median, the least and the most of the rounds', () => {
    const round = (cpuMs: number, baseCpuMs: number) => [
      sample({ serverCpuMs: cpuMs }),
      sample({ contender: 'crier-shared-base', serverCpuMs: baseCpuMs }),
      sample({ contender: 'crier-user', serverCpuMs: 9000 }),
    ];
    const rows = summarize([round(500, 250), round(900, 1000), round(300, 100)]);
    assert.deepEqual(baseTable(rows).slice(1), [
      ['crier, shared', '4000', '4', '1.00 ×', '2.00 ×', '1.00 ×', '1.00 ×'],
    ]);
    const [row] = rows;
    assert.equal(row!.windows, 3);
    assert.deepEqual(row!.ratios['crier-shared-base']!.serverCpuUs, { median: 2, min: 0.9, max: 3 });
  });
});
