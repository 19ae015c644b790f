import { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

/** A test that failed. */
export interface FailedTest {
  /** `suite › title (test/a.test.ts:12): Expected values to be strictly equal: 1 !== 2` */
  readonly line: string;
  /** The error with its stack, causes and fields. */
  readonly text: string;
}

/** What became of one test file. */
export interface FileCounts {
  /** The compiled file, as it was given. */
  readonly file: string;
  readonly tests: number;
  readonly suites: number;
  readonly skipped: number;
  readonly failed: readonly FailedTest[];
  /** `suite › title` and ms of each test, in order. */
  readonly titles: readonly (readonly [string, number])[];
  readonly seconds: number;
  /** CPU time of the process, and of the child processes that ended meanwhile. */
  readonly cpuSeconds: number;
  /** Child processes that the file started. */
  readonly processes: number;
}

/** What a worker tells the runner. */
export type WorkerMessage =
  | { readonly report: FileCounts }
  /** An error after the end of a test of this source file; undefined where node does not know the test. */
  | { readonly late: string; readonly file: string | undefined }
  /** Kinds of what keeps the process alive though its tests are over, and the file since whose end there always was some of it. */
  | { readonly open: readonly (readonly [kind: string, since: string | undefined])[] };

const MAX_LINE = 300;
/** Of `/proc/self/stat`: the ticks of Linux. */
const TICKS_PER_SECOND = 100;

/** Child processes that this process has started, but for those that it waited for synchronously. */
let processes = 0;
const spawning = ChildProcess.prototype as unknown as { spawn: (options: object) => unknown };
const { spawn } = spawning;
spawning.spawn = function (options) {
  processes++;
  return spawn.call(this, options);
};

/**
 * A reporter of node:test for a process that runs each test file as a suite of its own: sends the runner a report of each file as soon as
 * the file has ended.
 */
export default async function* testReporter(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  /** Of the file, its suites and the test that run, outermost first. */
  const names: string[] = [];
  let count = startCount();
  /** The file that runs. */
  let file: string | undefined;
  for await (const { type, data } of events) {
    if (type === 'test:enqueue' && data.nesting === 0) {
      // A test that registers outside of its file's suite would be a file of its own.
      if (file !== undefined) send({ late: `"${data.name}" is no test of a suite of its file`, file: undefined });
      else count = startCount();
      file ??= data.name;
    }
    if (type === 'test:start') names.splice(data.nesting, Infinity, data.name);
    if (type === 'test:diagnostic' && data.message.startsWith('Error: ')) {
      send({ late: onOneLine(data.message), file: fileOfLate(data.message) });
    }
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const title = names
      .slice(1, data.nesting)
      .concat(data.nesting === 0 ? 'the file' : data.name)
      .join(' › ');
    // A suite fails with its tests, which are named.
    if (type === 'test:fail' && (data.details.error as { failureType?: string }).failureType !== 'subtestsFailed')
      count.failed.push(failureOf(title, data));
    if (data.nesting > 0) {
      if (data.details.type === 'suite') count.suites++;
      else {
        count.tests++;
        count.titles.push([title, data.details.duration_ms]);
      }
      if (data.skip !== undefined || data.todo !== undefined) count.skipped++;
      continue;
    }
    if (data.name !== file) continue;
    file = undefined;
    if (count.failed.length === 0 && (count.tests === 0 || type === 'test:fail'))
      count.failed.push({
        line: `${relative('', data.name)}: ${count.tests === 0 ? 'no test ran' : 'failed'}`,
        text: '',
      });
    const { startedAt, cpu, processesBefore, ...counted } = count;
    send({
      report: {
        ...counted,
        file: data.name,
        seconds: (performance.now() - startedAt) / 1000,
        cpuSeconds: cpuSeconds() - cpu,
        processes: processes - processesBefore,
      },
    });
  }
  yield '';
}

function startCount() {
  return {
    startedAt: performance.now(),
    cpu: cpuSeconds(),
    processesBefore: processes,
    tests: 0,
    suites: 0,
    skipped: 0,
    failed: [] as FailedTest[],
    titles: [] as [string, number][],
  };
}

/** CPU time of this process and of its children that have ended. */
function cpuSeconds(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
}

function failureOf(
  title: string,
  { details, file, line }: Extract<TestEvent, { type: 'test:fail' }>['data'],
): FailedTest {
  const error = details.error as Error;
  // The error that a test threw is the cause of the one that node reports.
  const { message, code } = (error.cause ?? {}) as { message?: string; code?: string };
  // An error of several attempts to connect has no message.
  const reason = onOneLine(message || code || error.message);
  return {
    line: `${title} (${relative('', file ?? '')}:${line}): ${reason}`,
    text: inspect(error.cause ?? error, { depth: 5 }),
  };
}

/** node names the place of the test whose activity it was. */
function fileOfLate(message: string): string | undefined {
  return /^Error: Test (?:hook )?".*" at (\S+?):\d+:\d+ generated/s.exec(message)?.[1];
}

function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, MAX_LINE);
}

function send(message: WorkerMessage): void {
  process.send?.(message);
}
