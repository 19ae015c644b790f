import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { startKafkaBroker } from '../stack/kafka-broker.ts';
import { runCommand, say } from '../loadtest/runner/command.ts';
import { numberFlag } from '../loadtest/runner/flags.ts';
import { findCandidates } from './mutate/candidates.ts';
import { needsKafka, testsOf } from './mutate/folders.ts';
import { reportOf, summaryOf } from './mutate/report.ts';
import { runTrial } from './mutate/trial.ts';
import { cleanEnvironment } from './support/clean-environment.ts';
import { selectTestFiles } from './support/selection.ts';

const RESULTS_FOLDER = 'test/mutate/results';

const USAGE = `Changes one small place of src/<folder> at a time and runs the folder's tests. A change that no test detects survives.

Usage: npm run mutate -- <folder> [flags]

  --file <name>    only this file: redis-bus.ts
  --changed        only lines changed since this branch left main
  --limit <number> size of a random sample of mutants
  --seed <number>  of the sample; default: 1
  --help

A run over the whole folder, or a sample of it, writes ${RESULTS_FOLDER}/<folder>.md, of gateway/fanout gateway-fanout.md.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    file: { type: 'string' },
    changed: { type: 'boolean', default: false },
    limit: { type: 'string' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});

async function main(stop: AbortSignal): Promise<number> {
  const [folder] = positionals;
  if (values.help || folder === undefined || positionals.length > 1) {
    process.stdout.write(USAGE);
    return values.help ? 0 : 1;
  }
  const limit = values.limit === undefined ? undefined : numberFlag('limit', values.limit);
  const seed = numberFlag('seed', values.seed);
  const files = await selectTestFiles(import.meta.dirname, testsOf(folder), []);
  const testFiles = files.map((file) => relative(import.meta.dirname, file));
  const candidates = await findCandidates(folder, { file: values.file, onlyChanged: values.changed, limit, seed });
  const kafka = needsKafka(testFiles) ? await startKafkaBroker() : undefined;
  try {
    const environment = { ...cleanEnvironment(), TEST_FAULTS: '', ...(kafka && { TEST_KAFKA_BROKERS: kafka.address }) };
    const outcomes = await runTrial({ candidates, testFiles, environment, stop, say });
    const command = ['npm run mutate --', folder, ...(limit ? ['--limit', limit, '--seed', seed] : [])].join(' ');
    const report = reportOf(command, folder, outcomes, candidates.total);
    if (values.file === undefined && !values.changed) {
      await mkdir(RESULTS_FOLDER, { recursive: true });
      await writeFile(join(RESULTS_FOLDER, `${folder.replaceAll('/', '-')}.md`), report);
    }
    process.stdout.write(`${report}\n${summaryOf(outcomes, candidates.total)}\n`);
    return 0;
  } finally {
    await kafka?.stop();
  }
}

runCommand('npm run mutate', main);
