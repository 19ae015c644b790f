import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { runCommand, say } from '../loadtest/runner/command.ts';
import { numberFlag } from '../loadtest/runner/flags.ts';
import { KINDS } from './fuzz/kinds.ts';

const USAGE = `Checks invariants with random input. Prints the seed, and the smallest failing case found.

Usage: npm run fuzz -- [flags]

  --minutes <number>  duration, shared by the kinds; default: 10
  --cases <number>    most cases of each kind; default: as many as fit
  --seed <number>     default: a random one
  --only <kinds>      of ${Object.keys(KINDS).join(',')}
  --help

Exits with 1 when anything fails.
`;

const PROGRESS_INTERVAL_MS = 10_000;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    cases: { type: 'string' },
    seed: { type: 'string' },
    only: { type: 'string', default: Object.keys(KINDS).join(',') },
    help: { type: 'boolean', default: false },
  },
});

async function main(stop: AbortSignal): Promise<number> {
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const seed = values.seed === undefined ? Date.now() % 2 ** 31 : numberFlag('seed', values.seed);
  const names = values.only.split(',');
  const unknown = names.find((name) => !Object.hasOwn(KINDS, name));
  if (unknown !== undefined)
    throw new Error(`--only: expected kinds of ${Object.keys(KINDS).join()}, got "${unknown}"`);
  const shareMs = (numberFlag('minutes', values.minutes) * 60_000) / names.length;
  let failures = 0;
  for (const name of names) {
    stop.throwIfAborted();
    if (!(await fuzz(name, seed, shareMs))) failures++;
  }
  return failures === 0 ? 0 : 1;
}

/** Whether all cases of a kind passed. */
async function fuzz(name: string, seed: number, ms: number): Promise<boolean> {
  const ends: (() => void | Promise<void>)[] = [];
  const property = await KINDS[name]!.property({ after: (end) => void ends.push(end) });
  let runs = 0;
  const count = () => say(`${name}: ${runs} cases, seed ${seed}`);
  const timer = setInterval(count, PROGRESS_INTERVAL_MS);
  const run = property.run.bind(property);
  property.run = (value) => {
    runs++;
    return run(value);
  };
  try {
    const numRuns = values.cases === undefined ? Number.MAX_SAFE_INTEGER : numberFlag('cases', values.cases);
    const limits = { interruptAfterTimeLimit: ms, markInterruptAsFailure: false, numRuns };
    const details = await fc.check(property as fc.IAsyncProperty<unknown>, { seed, ...limits });
    count();
    if (!details.failed) return true;
    process.stdout.write(`FAILED: ${name}, seed ${seed}\n${await fc.asyncDefaultReportMessage(details)}\n`);
    process.stdout.write(`${describe(details.errorInstance)}\n`);
    return false;
  } finally {
    clearInterval(timer);
    for (const end of ends.reverse()) await end();
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

runCommand('npm run fuzz', main);
