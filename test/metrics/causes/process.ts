import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Cause } from './cause.ts';

export const processCauses: readonly Cause[] = [
  {
    title: 'the process itself',
    metrics: ['crier_build_info', 'crier_event_loop_utilization_ratio', 'crier_heap_limit_bytes'],
    run: async (stage) => {
      const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
      const labels = `version="${version}",role="all",node_version="${process.version}"`;
      assert.equal(await stage.value(`crier_build_info{${labels}}`), 1);
      const ratio = await stage.value('crier_event_loop_utilization_ratio');
      assert.ok(ratio > 0 && ratio <= 1, `${ratio}`);
      // NODE_OPTIONS of this process may set another limit; the pod does not have them.
      const print = ['-p', 'v8.getHeapStatistics().heap_size_limit'];
      const limit = execFileSync(process.execPath, print, { env: {}, encoding: 'utf8' });
      assert.equal(await stage.value('crier_heap_limit_bytes'), Number(limit));
    },
  },
];
