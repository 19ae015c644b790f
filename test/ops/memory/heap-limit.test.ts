import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';

const MODULE = new URL('../../../src/ops/memory/heap-limit.js', import.meta.url).href;
const MIB = 2 ** 20;

/** The limit that a process of these flags computes, in MiB. */
async function limitOf(commandLine: readonly string[], nodeOptions = ''): Promise<number> {
  const script = `import(${JSON.stringify(MODULE)}).then(({ heapLimit }) =>
    console.log(heapLimit(process.env.NODE_OPTIONS + ' ' + process.execArgv.join(' '))))`;
  const env = { PATH: process.env['PATH'], NODE_OPTIONS: nodeOptions };
  const { stdout } = await promisify(execFile)(process.execPath, [...commandLine, '-e', script], { env });
  return Number(stdout) / MIB;
}

describe('heapLimit', () => {
  const OLD = '--max-old-space-size=64';
  const cases: readonly (readonly [title: string, commandLine: readonly string[], nodeOptions?: string])[] = [
    ["V8's young generation", [OLD]],
    ['a young generation of the command line', [OLD, '--max-semi-space-size=8']],
    ['one of NODE_OPTIONS', [OLD], '--max-semi-space-size=32'],
    ['one with underscores, rounded up to a power of two', [OLD, '--max_semi_space_size=12']],
    [
      'one of the command line before that of NODE_OPTIONS',
      [OLD, '--max-semi-space-size=4'],
      '--max-semi-space-size=32',
    ],
  ];
  for (const [title, commandLine, nodeOptions] of cases) {
    it(`is the size of the old generation with ${title}`, async () => {
      assert.equal(await limitOf(commandLine, nodeOptions), 64);
    });
  }
});
