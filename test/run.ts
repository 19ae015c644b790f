import { availableParallelism } from 'node:os';
import { relative } from 'node:path';
import { installKafka, startKafkaBroker } from '../deploy/kafka-broker.ts';
import { PROGRAMS, installHint, missingPrograms } from '../deploy/programs.ts';
import { stopSignal } from '../deploy/stop-signal.ts';
import { variables } from '../src/config.ts';
import { runNodeTests } from './support/runner.ts';
import { selectTestFiles } from './support/selection.ts';

const USAGE = `npm test [-- <folder or file> ... [--except=<folder or file>,...]]

Runs test/ against a real Kafka (one for all) and real Redis servers: npm test -- bus kafka/record
`;

const CONCURRENCY = 2;
const FILE_TIMEOUT_MS = 5 * 60_000;

/** This environment without the settings of crier itself: what a shell carries must not decide what is tested. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !(name in variables) && !name.startsWith('BACKEND_')),
  );
}

function readArguments(): { wanted: string[]; unwanted: string[] } | undefined {
  const wanted: string[] = [];
  const unwanted: string[] = [];
  for (const argument of process.argv.slice(2)) {
    if (argument.startsWith('--except=')) unwanted.push(...argument.slice('--except='.length).split(','));
    else if (argument.startsWith('-')) return undefined;
    else wanted.push(argument);
  }
  return { wanted, unwanted };
}

async function runTests(wanted: string[], unwanted: string[], stop: AbortSignal): Promise<readonly string[]> {
  const root = import.meta.dirname;
  const files = await selectTestFiles(root, wanted, unwanted);
  const missing = await missingPrograms(PROGRAMS);
  if (missing.length > 0) {
    throw new Error(`missing on this machine: ${missing.join(', ')}; nothing is skipped. ${installHint(missing)}`);
  }
  const startedAt = performance.now();
  await installKafka();
  stop.throwIfAborted();
  const kafka = await startKafkaBroker();
  try {
    const { closingLines, failures } = await runNodeTests({
      files,
      concurrency: CONCURRENCY,
      timeoutMs: FILE_TIMEOUT_MS,
      environment: { ...cleanEnvironment(), TEST_KAFKA_BROKERS: kafka.address },
      stop,
      stdio: 'inherit',
    });
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
    const folders = new Set(files.map((file) => relative(root, file).split('/', 1)[0]));
    process.stdout.write(`
Node ${process.version}, ${availableParallelism()} cores, Kafka on ${kafka.address}, ${seconds} s
${files.length} test files in ${[...folders].join(', ')}
${closingLines.join('\n')}
${failures.length === 0 ? 'passed' : `FAILED: ${failures.join('\nFAILED: ')}`}
`);
    return failures;
  } finally {
    await kafka.stop();
  }
}

const stop = stopSignal();
const selection = readArguments();
if (!selection) {
  process.stdout.write(USAGE);
  process.exit(process.argv[2] === '--help' ? 0 : 1);
}
try {
  const failures = await runTests(selection.wanted, selection.unwanted, stop);
  process.exit(failures.length === 0 ? 0 : 1);
} catch (error) {
  // What fails after Ctrl-C fails because of it.
  process.stderr.write(`npm test: ${stop.aborted ? 'stopped' : (error as Error).message}\n`);
  process.exit(1);
}
