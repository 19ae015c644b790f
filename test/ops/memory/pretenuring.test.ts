import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';

/** Bytes. Measured: 33,000 (Node 20) and 129,000 (Node 24) without pretenuring, 2.8 million and more with it. */
const MUCH = 300_000;
/**
 * V8 pretenures only while its young generation has the largest size that it may have. With one thread the same allocations are
 * optimized in every run; with more, a busy machine can end the script before its code is.
 */
const FLAGS = ['--expose-gc', '--single-threaded', '--min-semi-space-size=1', '--max-semi-space-size=1'];

async function oldSpaceGrowth(...words: readonly string[]): Promise<number> {
  const script = new URL('survivors.js', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [...FLAGS, script, ...words]);
  return Number(stdout);
}

describe('disablePretenuring', () => {
  it('keeps objects in the young generation where V8 has seen others survive', async () => {
    assert.ok((await oldSpaceGrowth('off')) < MUCH);
  });

  it('is needed: else V8 allocates them in the old space', async () => {
    assert.ok((await oldSpaceGrowth()) > MUCH);
  });
});
