import { getHeapSpaceStatistics } from 'node:v8';
import { disablePretenuring } from '../../../src/ops/memory/pretenuring.ts';

/**
 * `node --expose-gc survivors.js [off]`: allocates objects at one place of the code, first such that survive, as those of a crowd that
 * connects, then such that do not. Prints the bytes by which the old space grows with the latter. off: without pretenuring.
 */
if (process.argv[2] === 'off') disablePretenuring();

class Batch {
  readonly events: number[] = [];
}

const batches: Batch[] = [];

function allocate(at: number): void {
  batches[at] = new Batch();
}

function oldBytes(): number {
  return getHeapSpaceStatistics().find((space) => space.space_name === 'old_space')!.space_used_size;
}

for (let collections = 0; collections < 10; collections++) {
  for (let i = 0; i < 500; i++) allocate(batches.length);
  globalThis.gc!({ type: 'minor' });
}
const before = oldBytes();
for (let i = 0; i < 5_000_000; i++) allocate(i % 64);
process.stdout.write(String(oldBytes() - before));
