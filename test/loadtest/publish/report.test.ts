import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { publishRows, publishTable } from '../../../loadtest/publish/report.ts';
import type { PublishSample } from '../../../loadtest/publish/publish-trial.ts';

describe('publishRows', () => {
  const sample = (topology: PublishSample['topology'], records: number, redisCpuMs: number[]): PublishSample => ({
    ...{ topology, records, redisCpuMs, durationMs: 1000, ownCpuMs: 300, lost: 0 },
  });
  const round = (ofThree: number) => [
    sample('one server', 5500, [200]),
    sample('a cluster of 1 shard', 5000, [200]),
    sample('a cluster of 3 shards', ofThree, [100, 200, 150]),
  ];

  it('compares throughput and the CPU time of the busiest server with those of 1 shard in the same round', () => {
    const rows = publishRows([round(10_000), round(20_000), round(15_000)]);
    assert.deepEqual(publishTable(rows).slice(1), [
      ['one server', '5,500', '1.10 ×', '36.4', '36.4', '1.10 ×', '20 %', '30 %'],
      ['a cluster of 1 shard', '5,000', '1.00 ×', '40.0', '40.0', '1.00 ×', '20 %', '30 %'],
      ['a cluster of 3 shards', '15,000', '3.00 ×', '30.0', '13.3', '3.00 ×', '20 %', '30 %'],
    ]);
  });
});
