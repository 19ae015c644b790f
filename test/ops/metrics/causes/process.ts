import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readVersion } from '../../../../src/base/version.ts';
import type { Cause } from './cause.ts';

export const processCauses: readonly Cause[] = [
  {
    title: 'the process itself',
    metrics: ['crier_build_info', 'crier_event_loop_utilization_ratio'],
    run: async (stage) => {
      const labels = `version="${readVersion()}",role="all",node_version="${process.version}"`;
      assert.equal(await stage.value(`crier_build_info{${labels}}`), 1);
      const ratio = await stage.value('crier_event_loop_utilization_ratio');
      assert.ok(ratio > 0 && ratio <= 1, `${ratio}`);
    },
  },
  {
    title: 'a collection of garbage',
    metrics: ['crier_heap_limit_bytes', 'crier_heap_used_ratio'],
    run: async (stage) => {
      // NODE_OPTIONS of this process may set another limit; the pod does not have them.
      const print = ['-p', 'v8.getHeapStatistics().heap_size_limit'];
      const limit = Number(execFileSync(process.execPath, print, { env: {}, encoding: 'utf8' }));
      const oldGeneration = await stage.value('crier_heap_limit_bytes');
      assert.ok(oldGeneration > 0.9 * limit && oldGeneration < limit, `${oldGeneration} of ${limit}`);
      const before = await stage.value('crier_heap_used_ratio');
      assert.ok(before > 0 && before < 1, `${before}`);
      const snapshot = await fetch(`${stage.pod.admin}/debug/profile/heap-snapshot`, { method: 'POST' });
      await snapshot.arrayBuffer();
      await stage.pod.until('another share', async () => (await stage.value('crier_heap_used_ratio')) !== before);
      const collections = 'nodejs_gc_duration_seconds_count{kind="major"}';
      await stage.pod.until('a collection', async () => (await stage.value(collections)) > 0);
    },
  },
];
