import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { runTestFiles } from './runner.ts';
import type { TestRunOptions } from './runner.ts';
import { temporaryFolder } from './temporary-folder.ts';
import type { FileReport } from './test-process.ts';
import { waitFor } from './wait-for.ts';

const FIXTURES = join('test', 'support', 'fixtures');

const fileOf = (fixture: string) => join(FIXTURES, `${fixture}.test.mjs`);

/** Runs the fixtures in one process. */
async function run(fixtures: string | readonly string[], overrides: Partial<TestRunOptions> = {}) {
  const reports: FileReport[] = [];
  const outcome = await runTestFiles({
    files: [fixtures].flat().map(fileOf),
    alone: new Set(),
    concurrency: 1,
    timeoutMs: 60_000,
    endMs: 1000,
    environment: process.env,
    stop: new AbortController().signal,
    onFile: (report) => void reports.push(report),
    ...overrides,
  });
  return { ...outcome, ended: reports };
}

/** A zombie does not run: who reaps it is the machine's business. */
async function isRunning(pid: number): Promise<boolean> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,stat=']);
  const line = stdout.split('\n').find((entry) => entry.trim().startsWith(`${pid} `));
  return line !== undefined && !line.includes('Z');
}

describe('runTestFiles', () => {
  it('passes where all tests pass, and counts them by file', async () => {
    const { reports, failures, flaky } = await run('passes');
    assert.deepEqual([failures, flaky], [[], []]);
    const [{ file, tests, failed, titles }] = reports as [FileReport];
    assert.deepEqual([file, tests, failed, titles.map(([title]) => title)], [fileOf('passes'), 1, [], ['passes']]);
  });

  it('runs a file that fails once more, alone, after the rest, and fails if it fails again', async () => {
    const { failures, flaky, ended } = await run(['fails', 'passes']);
    assert.deepEqual(
      ended.map(({ file }) => file),
      ['fails', 'passes', 'fails'].map(fileOf),
    );
    const file = fileOf('fails');
    assert.deepEqual(failures, [
      `a suite › fails an assertion (${file}:6): Expected values to be strictly equal: 1 !== 2`,
      `a suite › an inner suite › throws an error of two lines (${file}:9): first second`,
      `a suite › an inner suite › throws no error (${file}:12): just text`,
      `a suite › fails in a hook (${file}:16): in the hook`,
      `takes too long (${file}:22): test timed out after 20ms`,
    ]);
    assert.deepEqual(flaky, []);
  });

  it('passes if a file passes when it runs once more, and names its test as flaky with the first failure', async (t) => {
    const environment = { ...process.env, FLAKY_MARK: join(await temporaryFolder(t), 'mark') };
    const { reports, failures, flaky } = await run(['flaky', 'passes'], { environment });
    assert.deepEqual(failures, []);
    assert.deepEqual(flaky, [`passes when it runs for the second time (${fileOf('flaky')}:5): the first run fails`]);
    assert.ok(reports.every(({ failed }) => failed.length === 0));
  });

  it('counts what a failed test leaves open as a part of its failure', async (t) => {
    const environment = { ...process.env, FLAKY_MARK: join(await temporaryFolder(t), 'mark') };
    const { failures, flaky } = await run('flaky-open', { environment, endMs: 300 });
    assert.deepEqual(failures, []);
    assert.equal(flaky.length, 1);
  });

  for (const [fixture, flake, fault] of [
    ['leaves-handle', 'flaky', /^a test left something open: TCPServerWrap since \S+leaves-handle/],
    ['leaves-process', 'flaky', /^left running by a test: \d+ sleep 4242$/],
    ['late-rejection', 'flaky-exit', /^Error: Test "passes, and rejects when it is over" /],
  ] as const) {
    it(`does not take a fault of another file for a part of a failure: ${fixture}, ${flake}`, async (t) => {
      const environment = { ...process.env, FLAKY_MARK: join(await temporaryFolder(t), 'mark') };
      const { failures, flaky } = await run([fixture, flake], { environment, endMs: 300 });
      assert.equal(failures.length, 1);
      assert.match(failures[0]!, fault);
      assert.equal(flaky.length, 1);
    });
  }

  it('gives the text of an error with its stack', async () => {
    const { reports } = await run('fails');
    assert.match(reports[0]!.failed[1]!.text, /^Error: first\nsecond\n {4}at /);
  });

  for (const fixture of [
    'late-rejection',
    'late-exception',
    'late-hook',
    'exception-without-test',
    'rejection-meanwhile',
  ]) {
    it(`fails on an unhandled error: ${fixture}`, async () => {
      assert.notDeepEqual((await run(fixture)).failures, []);
    });
  }

  it('names the test after whose end something failed, though its file is not the last of its process', async () => {
    const { failures } = await run(['late-rejection', 'passes']);
    assert.equal(failures.length, 1);
    assert.match(failures[0]!, /^Error: Test "passes, and rejects when it is over" .* created the error "Error: late"/);
  });

  it('fails on a skipped test', async () => {
    assert.deepEqual((await run('skips')).failures, [`${fileOf('skips')}: 1 skipped: nothing is skipped here`]);
  });

  it('fails on a test that registers after the end of its file, whatever runs then', async () => {
    const { failures } = await run(['late-test', 'slow']);
    assert.equal(failures.length, 1);
    assert.match(failures[0]!, /late/);
  });

  it('takes no text that a test sends for its report', async () => {
    assert.deepEqual((await run('sends-text')).failures, []);
  });

  it('fails on a file without tests', async () => {
    assert.deepEqual((await run('no-test')).failures, [`${fileOf('no-test')}: no test ran`]);
  });

  it('fails on a file that does not end in time, and runs the rest in another process', async () => {
    const { failures, reports } = await run(['never-ends', 'passes'], { timeoutMs: 1000 });
    assert.deepEqual(failures, [`${fileOf('never-ends')}: did not end within 1000 ms`]);
    assert.equal(reports.find(({ file }) => file === fileOf('passes'))?.tests, 1);
  });

  it('fails on a file that ends its process, and runs the rest in another', async () => {
    const { failures, reports } = await run(['ends-process', 'passes']);
    assert.deepEqual(failures, [`${fileOf('ends-process')}: ended its process (70)`]);
    assert.equal(reports.find(({ file }) => file === fileOf('passes'))?.tests, 1);
  });

  it('fails on a file that ends its process later, whatever runs then', async () => {
    for (const [fixture, code] of [
      ['late-exit', 7],
      ['late-exit-0', 70],
    ] as const) {
      const fault = `the process of the tests ended with ${code}: its last files were ${fileOf(fixture)}`;
      assert.deepEqual((await run(fixture)).failures, [fault]);
      const { failures, flaky } = await run([fixture, 'slow']);
      assert.deepEqual(failures, [fault]);
      assert.match(flaky.join(), new RegExp(`slow\\.test\\.mjs: ended its process \\(${code}\\)`));
    }
  });

  it('fails on a process that blocks after its last test', async () => {
    const { failures } = await run('blocks-late', { endMs: 300 });
    assert.match(failures.join(), /^the process of the tests did not end: its last files were \S+blocks-late/);
  });

  it('fails on a failed test of a file of which another test registers elsewhere', async () => {
    const { failures } = await run('foreign');
    assert.ok(failures.includes('"is of no file" is no test of a suite of its file'), failures.join('\n'));
  });

  it('fails if many files are flaky', async (t) => {
    const folder = await temporaryFolder(t);
    const files = await Promise.all(
      [1, 2, 3, 4].map(async (n) => {
        const path = join(folder, `flaky-${n}.test.mjs`);
        const text = await readFile(fileOf('flaky'), 'utf8');
        await writeFile(path, text.replace("process.env['FLAKY_MARK']", JSON.stringify(join(folder, `mark-${n}`))));
        return path;
      }),
    );
    const { failures, flaky } = await run([], { files });
    assert.equal(flaky.length, 4);
    assert.deepEqual(failures, ['4 files are flaky; at most 3 may be']);
  });

  it('names and ends a process that a test left behind', async () => {
    const { failures } = await run('leaves-process', { endMs: 300 });
    assert.equal(failures.length, 1);
    const pid = Number(/^left running by a test: (\d+) sleep 4242$/.exec(failures[0]!)?.[1]);
    await waitFor('the process to end', async () => !(await isRunning(pid)));
  });

  it('fails on a handle that a test left open', async () => {
    const { failures } = await run(['leaves-handle', 'passes'], { endMs: 500 });
    assert.deepEqual(failures, [`a test left something open: TCPServerWrap since ${fileOf('leaves-handle')}`]);
  });

  it('stops the tests and the processes they started when its signal is aborted', async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 1000);
    const { failures } = await run('never-ends', { stop: stop.signal });
    assert.equal(failures.at(-1), 'stopped');
    assert.ok(!failures.some((failure) => failure.startsWith('left running')));
  });
});
