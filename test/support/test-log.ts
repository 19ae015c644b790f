import type { FileReport } from './test-process.ts';

/** Files that the end of the output names. */
const MAX_DEAREST = 10;
/** Mean of the files that `test/gate.md` does not name. */
const USUAL_SECONDS = 2;
/** Failed tests that the end of the output names. */
const MAX_NAMED = 20;

/** Seconds that each file took in an earlier run, by its name. */
export type FileSeconds = Readonly<Record<string, number>>;

/** Those that `test/gate.md` gives for its dearest files by time. */
export function gateSeconds(page: string): FileSeconds {
  const table = /^## The dearest files by time\n(.*?)^## /ms.exec(page)![1]!;
  return Object.fromEntries(
    Array.from(table.matchAll(/^\| `(\S+)` .* (\d+) \|$/gm), ([, name, seconds]) => [name!, Number(seconds)]),
  );
}

export interface TestLogOptions {
  /** Names of all files, as they stand in test/. */
  readonly files: readonly string[];
  readonly concurrency: number;
  readonly earlier: FileSeconds;
  /** True: prints the titles of all tests and what they print, not only of those that failed. */
  readonly hasTitles: boolean;
  readonly write: (text: string) => void;
}

/** What `npm test` prints while it runs and at its end. */
export class TestLog {
  readonly #options: TestLogOptions;
  readonly #startedAt = performance.now();
  readonly #done = new Set<string>();

  constructor(options: TestLogOptions) {
    this.#options = options;
  }

  /** A line for a file that has ended, with how far the run is; and the errors of its failed tests. */
  add(name: string, { tests, failed, skipped, titles, seconds, cpuSeconds, output }: FileReport): void {
    this.#done.add(name);
    const { files, hasTitles, write } = this.#options;
    const count = `${String(this.#done.size).padStart(String(files.length).length)}/${files.length}`;
    const mark = failed.length + skipped > 0 ? '✖' : '✔';
    const figures = `${plural(tests, 'test')}, ${seconds.toFixed(1)} s, CPU ${cpuSeconds.toFixed(1)} s`;
    write(`[${count}, ${this.#elapsed()} of ${this.#expected()}] ${mark} ${name}: ${figures}\n`);
    if (output !== '' && (hasTitles || failed.length > 0)) write(`${output.trimEnd()}\n`);
    if (hasTitles) for (const [title, ms] of titles) write(`    ${title} (${Math.round(ms)} ms)\n`);
    for (const { line, text } of failed) write(`\n  ✖ ${line}\n${text.replace(/^/gm, '    ')}\n\n`);
  }

  #elapsed(): string {
    return minutes((performance.now() - this.#startedAt) / 1000);
  }

  /** By the seconds of earlier runs. */
  #expected(): string {
    const { files, earlier, concurrency } = this.#options;
    const elapsed = (performance.now() - this.#startedAt) / 1000;
    const left = files.filter((file) => !this.#done.has(file));
    if (left.length === 0) return minutes(elapsed);
    const rest = left.reduce((sum, file) => sum + (earlier[file] ?? USUAL_SECONDS), 0) / concurrency;
    return `about ${minutes(elapsed + rest)}`;
  }
}

/** The ten files that took longest, and the sums of all. */
export function dearestFiles(reports: readonly { name: string; report: FileReport }[]): string {
  const sum = (of: (report: FileReport) => number) => reports.reduce((total, { report }) => total + of(report), 0);
  const rows = reports
    .toSorted((one, other) => other.report.seconds - one.report.seconds)
    .slice(0, MAX_DEAREST)
    .map(({ name, report }) => row(report.seconds, report.cpuSeconds, report.processes, name));
  return [
    `The ${rows.length} files that took longest, of ${reports.length}: seconds, CPU seconds, processes started`,
    ...rows,
    row(
      sum(({ seconds }) => seconds),
      sum(({ cpuSeconds }) => cpuSeconds),
      sum(({ processes }) => processes),
      'all',
    ),
    '',
  ].join('\n');
}

function row(seconds: number, cpuSeconds: number, processes: number, name: string): string {
  return `${seconds.toFixed(1).padStart(8)} ${cpuSeconds.toFixed(1).padStart(8)} ${String(processes).padStart(6)}  ${name}`;
}

/** The counts in the form of node:test, and the verdict: the end of the output, which is what `.ci/run` repeats and what a stored log keeps. */
export function verdict(
  reports: readonly FileReport[],
  { failures, flaky }: { readonly failures: readonly string[]; readonly flaky: readonly string[] },
): string {
  const sum = (of: (report: FileReport) => number) => reports.reduce((total, report) => total + of(report), 0);
  const [tests, failed, skipped] = [
    sum((report) => report.tests),
    sum((report) => report.failed.length),
    sum((report) => report.skipped),
  ];
  return [
    `# tests ${tests}`,
    `# suites ${sum((report) => report.suites)}`,
    `# pass ${Math.max(0, tests - failed - skipped)}`,
    `# fail ${failed}`,
    `# skipped ${skipped}`,
    ...named(failures, 'FAILED'),
    ...named(flaky, 'FLAKY, passed when its file ran once more'),
    failures.length === 0 ? 'passed' : 'failed',
    '',
  ].join('\n');
}

function named(lines: readonly string[], mark: string): string[] {
  const rest = lines.length - MAX_NAMED;
  const shown = lines.slice(0, MAX_NAMED).map((line) => `${mark}: ${line}`);
  return rest > 0 ? [...shown, `${mark}: and ${rest} more`] : shown;
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

/** `1:05` */
function minutes(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
}
