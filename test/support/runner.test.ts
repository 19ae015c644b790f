import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { runNodeTests } from './runner.ts';
import { waitFor } from './wait-for.ts';

const FIXTURES = join('test', 'support', 'fixtures');

function run(fixture: string, overrides: Partial<Parameters<typeof runNodeTests>[0]> = {}) {
  return runNodeTests({
    files: [join(FIXTURES, `${fixture}.test.mjs`)],
    concurrency: 1,
    timeoutMs: 60_000,
    environment: process.env,
    stop: new AbortController().signal,
    stdio: 'ignore',
    ...overrides,
  });
}

/** A zombie does not run: who reaps it is the machine's business. */
async function isRunning(pid: number): Promise<boolean> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,stat=']);
  const line = stdout.split('\n').find((entry) => entry.trim().startsWith(`${pid} `));
  return line !== undefined && !line.includes('Z');
}

describe('runNodeTests', () => {
  it("passes where all tests pass, with node's closing lines", async () => {
    const { closingLines, failures } = await run('passes');
    assert.deepEqual(failures, []);
    assert.deepEqual(closingLines.slice(0, 4), ['# tests 1', '# suites 0', '# pass 1', '# fail 0']);
  });

  for (const fixture of ['late-rejection', 'late-exception', 'exception-without-test', 'rejection-meanwhile']) {
    it(`fails on an unhandled error: ${fixture}`, async () => {
      assert.deepEqual((await run(fixture)).failures, ['node --test ended with 1']);
    });
  }

  it('names each failed test with its suite, file, line and error', async () => {
    const { failedTests } = await run('fails');
    const file = join(FIXTURES, 'fails.test.mjs');
    assert.deepEqual(failedTests, [
      `a suite › fails an assertion (${file}:6): Expected values to be strictly equal: 1 !== 2`,
      `a suite › an inner suite › throws an error of two lines (${file}:9): first second`,
      `a suite › an inner suite › throws no error (${file}:12): just text`,
      `a suite › fails in a hook (${file}:16): in the hook`,
      `takes too long (${file}:22): test timed out after 20ms`,
    ]);
  });

  it('names what failed after the end of a test', async () => {
    const { failedTests } = await run('late-rejection');
    assert.match(
      failedTests[0]!,
      /^Error: Test "passes, and rejects when it is over" .* created the error "Error: late"/,
    );
    assert.equal(failedTests[1], `the file (${join(FIXTURES, 'late-rejection.test.mjs')}:1): test failed`);
  });

  it('fails on a skipped test', async () => {
    assert.deepEqual((await run('skips')).failures, ['1 skipped: nothing is skipped here']);
  });

  it('fails on a file that does not end in time', async () => {
    const { failures } = await run('never-ends', { timeoutMs: 1000 });
    assert.equal(failures[0], 'node --test ended with 1');
  });

  it('names and ends a process that a test left behind', async () => {
    const { failures } = await run('leaves-process');
    assert.equal(failures.length, 1);
    const pid = Number(/^left running by a test: (\d+) sleep 4242$/.exec(failures[0]!)?.[1]);
    await waitFor('the process to end', async () => !(await isRunning(pid)));
  });

  it('stops the tests and the processes they started when its signal is aborted', async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 1000);
    const { failures } = await run('never-ends', { stop: stop.signal });
    assert.equal(failures[0], 'stopped');
    assert.ok(!failures.some((failure) => failure.startsWith('left running')));
  });
});
