import assert from 'node:assert/strict';
import { it } from 'node:test';
import { heapShare } from '../../src/processes/heap-share.ts';

it('divides the percentage of memory for the heap by the processes of a container, and leaves other flags alone', () => {
  const flags = ['--enable-source-maps', '--max-old-space-size-percentage=50', '--max_old_space_size_percentage=2'];
  assert.deepEqual(heapShare(flags, 3), [
    '--enable-source-maps',
    '--max-old-space-size-percentage=16',
    '--max_old_space_size_percentage=1',
  ]);
});
