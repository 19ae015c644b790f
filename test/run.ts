import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { startKafkaBroker } from '../stack/kafka-broker.ts';
import { PROGRAMS, installPrograms, missingPrograms } from '../stack/programs.ts';
import { stopSignal } from '../stack/stop-signal.ts';
import { ALONE } from './support/alone.ts';
import { cleanEnvironment } from './support/clean-environment.ts';
import { runTestFiles } from './support/runner.ts';
import type { TestRun } from './support/runner.ts';
import { NAMED_ONLY, PODS, filesThatImport, selectTestFiles, testName } from './support/selection.ts';
import { switchSettings } from './support/switches.ts';
import { TestLog, dearestFiles, gateSeconds, verdict } from './support/test-log.ts';
import type { FileSeconds } from './support/test-log.ts';

const USAGE = `npm test [-- <folder or file> ... [--except=<folder or file>,...] [--pods] [--full] [--quick] [--switched]]

Runs test/ against a real Kafka (one for all) and real Redis servers: npm test -- bus kafka/decoding/record
Without a name it runs everything but the tests of whole pods (npm run test:pods) and these, which take minutes, build programs or
install packages, so that .ci/full runs them: ${NAMED_ONLY.join(', ')}

  --pods      the tests of whole pods and commands (npm run test:pods)
  --quick     those that need no Kafka, Redis or other process, and take no long time (npm run test:quick)
  --full      fault tests at full length, one file after the other (npm run test:faults)
  --switched  of the named ones, those that use the techniques below

DISABLE=sharing,projection npm test runs the tests without these techniques; so with key-rewriter, write-batching and compact-ast.
`;

/** How many files at a time, and the longest time for one. Most tests wait most of their time. */
const ALL = { concurrency: 4, timeoutMs: 5 * 60_000, settings: {}, hasKafka: true };
/** Those that use whole cores or install packages. */
const LONG = { ...ALL, concurrency: 2, timeoutMs: 10 * 60_000 };
/** Short faults wait for brokers and outages a third of their time. */
const FAULTS = { ...LONG, concurrency: 3 };
const QUICK = { ...ALL, concurrency: 2, hasKafka: false };
/** Fault tests have deadlines, so they run alone. */
const FULL = { ...ALL, concurrency: 1, timeoutMs: 30 * 60_000, settings: { TEST_FAULTS: 'full' } };

/** Of the tests that need no other process, those that take long. */
const NOT_QUICK = [
  'graph/context/fact-reads',
  'docs',
  'gateway/fanout/resume/replay-interleavings',
  'gateway/fanout/sharing/leak',
  'fuzz',
  'graph/loading',
  'graph/projection/differential',
  'graph/projection/template',
  'graphs',
  'gateway/http/hostile-clients',
  'gateway/http/request-limits',
  'gateway/identity/refresh',
  'kafka/decoding/protobuf/protobuf',
  'gateway/operations/own-source',
  'plugins',
  'server',
  'gateway/websocket/async-context',
  'gateway/websocket/cold-documents',
  'gateway/websocket/introspection',
  'gateway/websocket/ping-sweep',
  'gateway/websocket/trusted-documents',
];

/** Of a run of so many files at most, the titles of all tests are printed. */
const MAX_TITLED_FILES = 20;

const OPTIONS = {
  pods: { type: 'boolean', default: false },
  full: { type: 'boolean', default: false },
  quick: { type: 'boolean', default: false },
  switched: { type: 'boolean', default: false },
  except: { type: 'string', default: '' },
  help: { type: 'boolean', default: false },
} as const;

function readArguments() {
  try {
    const { values, positionals } = parseArgs({ allowPositionals: true, options: OPTIONS });
    if (values.help) return undefined;
    const wanted = positionals.length > 0 || !values.pods ? positionals.map(testName) : PODS;
    const unwanted = values.except.split(',').filter(Boolean);
    if (wanted.length === 0) unwanted.push(...PODS, ...NAMED_ONLY);
    if (values.quick) unwanted.push(...NOT_QUICK);
    return { ...values, wanted, unwanted };
  } catch (error) {
    process.stderr.write(`npm test: ${(error as Error).message}\n\n`);
    return undefined;
  }
}

type Selection = NonNullable<ReturnType<typeof readArguments>>;

const nameOf = (file: string) => relative(import.meta.dirname, file).replace(/\.test\.js$/, '');

async function selectFiles({ wanted, unwanted, quick, switched }: Selection): Promise<string[]> {
  const root = import.meta.dirname;
  const files = await selectTestFiles(root, wanted, unwanted);
  if (switched) return filesThatImport(root, files, (module) => module === join(root, 'support', 'switches.js'));
  if (!quick) return files;
  const slow = await filesThatImport(
    root,
    files,
    (module) => module === 'node:child_process' || module.startsWith(join(root, '..', 'stack')),
  );
  return files.filter((file) => !slow.includes(file) && !ALONE.has(nameOf(file)));
}

/** Seconds of each file in its last run on this machine: the longest run first. */
const TIMES = join('.stack', 'test-times.json');
/** Those of the dearest files, for a clone where none has run. */
const GATE = join('test', 'gate.md');

async function runTests(selection: Selection, stop: AbortSignal): Promise<TestRun> {
  const earlier = await readTimes();
  const secondsOf = (file: string) => earlier[nameOf(file)] ?? 0;
  const files = (await selectFiles(selection)).sort((one, other) => secondsOf(other) - secondsOf(one));
  await installPrograms(await missingPrograms(PROGRAMS));
  stop.throwIfAborted();
  const startedAt = performance.now();
  const { hasKafka, concurrency, timeoutMs, settings } = formOf(selection);
  const kafka = hasKafka ? await startKafkaBroker() : undefined;
  try {
    const log = new TestLog({
      files: files.map(nameOf),
      concurrency,
      earlier,
      hasTitles: files.length <= MAX_TITLED_FILES,
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
        ...(kafka && { TEST_KAFKA_BROKERS: kafka.address }),
        TEST_FAULTS: '',
        ...settings,
      },
      stop,
      onFile: (report) => log.add(nameOf(report.file), report),
    });
    const reports = run.reports.map((report) => ({ name: nameOf(report.file), report }));
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
    const switched = Object.entries(switchSettings())
      .map(([name, value]) => `${name}=${value}\n`)
      .join('');
    const folders = new Set(files.map((file) => nameOf(file).split('/', 1)[0]));
    process.stdout.write(`
${dearestFiles(reports)}
Node ${process.version}, ${availableParallelism()} cores, ${kafka ? `Kafka on ${kafka.address}` : 'no Kafka'}, ${seconds} s
${switched}${files.length} test files in ${[...folders].sort().join(', ')}
${verdict(run.reports, run)}`);
    const times = Object.fromEntries(reports.map(({ name, report }) => [name, report.seconds]));
    await mkdir(dirname(TIMES), { recursive: true });
    await writeFile(TIMES, JSON.stringify({ ...earlier, ...times }));
    return run;
  } finally {
    await kafka?.stop();
  }
}

function formOf({ full, quick, wanted }: Selection): typeof FULL | typeof ALL {
  if (full) return FULL;
  if (quick) return QUICK;
  if (wanted.length > 0 && wanted.every((name) => name.startsWith('faults'))) return FAULTS;
  return wanted.some((name) => NAMED_ONLY.includes(name.split('/', 1)[0]!)) ? LONG : ALL;
}

async function readTimes(): Promise<FileSeconds> {
  const usual = gateSeconds(await readFile(GATE, 'utf8'));
  try {
    return { ...usual, ...(JSON.parse(await readFile(TIMES, 'utf8')) as FileSeconds) };
  } catch {
    return usual;
  }
}

const stop = stopSignal();
const selection = readArguments();
if (!selection) {
  process.stdout.write(USAGE);
  process.exit(process.argv.includes('--help') ? 0 : 1);
}
try {
  const { failures } = await runTests(selection, stop);
  process.exit(failures.length === 0 ? 0 : 1);
} catch (error) {
  // What fails after Ctrl-C fails because of it.
  process.stderr.write(`npm test: ${stop.aborted ? 'stopped' : (error as Error).message}\n`);
  process.exit(1);
}
