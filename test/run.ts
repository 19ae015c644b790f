import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { installKafka, startKafkaBroker } from '../stack/kafka-broker.ts';
import { PROGRAMS, installPrograms, missingPrograms } from '../stack/programs.ts';
import { stopSignal } from '../stack/stop-signal.ts';
import { ALONE } from './support/alone.ts';
import { cleanEnvironment } from './support/clean-environment.ts';
import { runTestFiles } from './support/runner.ts';
import type { TestRun } from './support/runner.ts';
import { selectTestFiles } from './support/selection.ts';
import { switchSettings } from './support/switches.ts';
import { TestLog, dearestFiles, verdict } from './support/test-log.ts';
import type { FileSeconds } from './support/test-log.ts';

const USAGE = `npm test [-- <folder or file> ... [--except=<folder or file>,...] [--pods] [--full]]

Runs test/ against a real Kafka (one for all) and real Redis servers: npm test -- bus kafka/decoding/record
Without a name it runs everything but the tests of whole pods (npm run test:pods), faults and loadtest (the load test's own commands), which take minutes, deploy and kubernetes, which
build programs with Go, packages, routers and pages, which install packages with npm, clients, which installs them of npm, Python, Go and
Java, and proxies, which installs nginx, HAProxy and Envoy: npm test -- faults

  --pods  the tests of whole pods and commands (npm run test:pods)
  --full  fault tests at full length, one file after the other (npm run test:faults)

SHARING=off PROJECTION=off npm test runs the tests without these techniques; so do KEY_REWRITER=off, WRITE_BATCHING=off and
AST_LOCATIONS=on.
`;

/** `npm test`: how many files at a time, and the longest time for one. Most tests wait most of their time. */
const ALL = { concurrency: 3, timeoutMs: 5 * 60_000, settings: {} };
/** Among them may be the long ones, which use whole cores or install packages. */
const NAMED = { ...ALL, concurrency: 2, timeoutMs: 10 * 60_000 };
/** Fault tests have deadlines, so they run alone. */
const FULL = { concurrency: 1, timeoutMs: 30 * 60_000, settings: { TEST_FAULTS: 'full' } };

/** Tests that start many whole pods and commands, each of which takes a second or two of CPU. */
const PODS = ['check', 'cli', 'end-to-end', 'examples', 'metrics/every-metric.test.ts', 'mistakes.test.ts', 'reload'];
/** What runs only when named. */
const ASKED_FOR = [
  ...PODS,
  'faults',
  'loadtest',
  'deploy',
  'kubernetes',
  'packages',
  'routers',
  'clients',
  'proxies',
  'pages',
];

interface Selection {
  readonly wanted: string[];
  readonly unwanted: string[];
  readonly isFull: boolean;
}

function readArguments(): Selection | undefined {
  const wanted: string[] = [];
  const unwanted: string[] = [];
  let isFull = false;
  for (const argument of process.argv.slice(2)) {
    if (argument === '--full') isFull = true;
    else if (argument === '--pods') wanted.push(...PODS);
    else if (argument.startsWith('--except=')) unwanted.push(...argument.slice('--except='.length).split(','));
    else if (argument.startsWith('-')) return undefined;
    else wanted.push(argument);
  }
  if (wanted.length === 0) unwanted.push(...ASKED_FOR);
  return { wanted, unwanted, isFull };
}

/** Seconds of each file in the last run on this machine: the longest run first. */
const TIMES = join('.stack', 'test-times.json');

async function runTests({ wanted, unwanted, isFull }: Selection, stop: AbortSignal): Promise<TestRun> {
  const root = import.meta.dirname;
  const nameOf = (file: string) => relative(root, file).replace(/\.test\.js$/, '');
  const earlier = await readTimes();
  const secondsOf = (file: string) => earlier[nameOf(file)] ?? Infinity;
  const files = (await selectTestFiles(root, wanted, unwanted)).sort((one, other) =>
    secondsOf(one) === secondsOf(other) ? 0 : secondsOf(other) - secondsOf(one),
  );
  await installPrograms(await missingPrograms(PROGRAMS));
  stop.throwIfAborted();
  const startedAt = performance.now();
  await installKafka();
  stop.throwIfAborted();
  const kafka = await startKafkaBroker();
  try {
    const { concurrency, timeoutMs, settings } = isFull ? FULL : wanted.length > 0 ? NAMED : ALL;
    const log = new TestLog({
      files: files.map(nameOf),
      concurrency,
      earlier,
      hasTitles: wanted.length > 0,
      write: (text) => process.stdout.write(text),
    });
    const run = await runTestFiles({
      files,
      alone: new Set(files.filter((file) => ALONE.has(nameOf(file)))),
      concurrency,
      timeoutMs,
      environment: {
        ...cleanEnvironment(),
        ...switchSettings(),
        TEST_KAFKA_BROKERS: kafka.address,
        TEST_FAULTS: '',
        ...settings,
      },
      stop,
      stdio: 'inherit',
      onFile: (report) => log.add(nameOf(report.file), report),
    });
    const reports = run.reports.map((report) => ({ name: nameOf(report.file), report }));
    await writeFile(
      TIMES,
      JSON.stringify({ ...earlier, ...Object.fromEntries(reports.map(({ name, report }) => [name, report.seconds])) }),
    );
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
    const switched = Object.entries(switchSettings())
      .map(([name, value]) => `${name}=${value}\n`)
      .join('');
    const folders = new Set(files.map((file) => nameOf(file).split('/', 1)[0]));
    process.stdout.write(`
${dearestFiles(reports)}
Node ${process.version}, ${availableParallelism()} cores, Kafka on ${kafka.address}, ${seconds} s
${switched}${files.length} test files in ${[...folders].sort().join(', ')}
${verdict(run.reports, run)}`);
    return run;
  } finally {
    await kafka.stop();
  }
}

async function readTimes(): Promise<FileSeconds> {
  try {
    return JSON.parse(await readFile(TIMES, 'utf8')) as FileSeconds;
  } catch {
    return {};
  }
}

const stop = stopSignal();
const selection = readArguments();
if (!selection) {
  process.stdout.write(USAGE);
  process.exit(process.argv[2] === '--help' ? 0 : 1);
}
try {
  const { failures } = await runTests(selection, stop);
  process.exit(failures.length === 0 ? 0 : 1);
} catch (error) {
  // What fails after Ctrl-C fails because of it.
  process.stderr.write(`npm test: ${stop.aborted ? 'stopped' : (error as Error).message}\n`);
  process.exit(1);
}
