import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { heapShare } from '../../../src/ops/processes/heap-share.ts';

const PERCENTAGE = '--max-old-space-size-percentage';
/** Node 20 does not know the flag, and does not start with it. */
const itWithFlag = process.allowedNodeEnvironmentFlags.has(PERCENTAGE) ? it : () => undefined;

/** Of a process with these flags, in bytes. */
async function heapLimit(flags: readonly string[], nodeOptions: string): Promise<number> {
  const script = 'process.stdout.write(String(v8.getHeapStatistics().heap_size_limit))';
  const env = { NODE_OPTIONS: nodeOptions };
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, '-e', script], { env });
  return Number(stdout);
}

describe('the share of the heap of one of several processes', () => {
  for (const [place, flags, nodeOptions] of [
    ['a flag', ['--enable-source-maps', `${PERCENTAGE}=50`], ''],
    ['a flag with underscores', ['--max_old_space_size_percentage=50'], ''],
    ['a flag and its value in two words', [PERCENTAGE, '50'], ''],
    ['the last of several flags', [`${PERCENTAGE}=40`, `${PERCENTAGE}=50`], ''],
    ['NODE_OPTIONS', ['--enable-source-maps'], `--title=crier ${PERCENTAGE}=50 --max-semi-space-size=16`],
    ['NODE_OPTIONS in quotes', [], `"${PERCENTAGE}=50"`],
    ['NODE_OPTIONS in two words', [], `${PERCENTAGE} 50`],
    ['a flag, which counts more than NODE_OPTIONS', [`${PERCENTAGE}=50`], `${PERCENTAGE}=80`],
  ] as const) {
    it(`is a part of the percentage of ${place}`, () => {
      assert.deepEqual(heapShare(flags, nodeOptions, 4), [...flags, `${PERCENTAGE}=12.5`]);
    });

    void itWithFlag(`is what Node takes in place of the percentage of ${place}`, async () => {
      const share = await heapLimit(heapShare(flags, nodeOptions, 3), nodeOptions);
      assert.equal(share, await heapLimit([...flags, `${PERCENTAGE}=${50 / 3}`], nodeOptions));
      assert.ok(share < (await heapLimit(flags, nodeOptions)));
    });
  }

  it('is left to Node without a percentage', () => {
    const flags = ['--enable-source-maps', '--max-old-space-size=64'];
    assert.deepEqual(heapShare(flags, '--max-semi-space-size=16', 3), flags);
  });
});
