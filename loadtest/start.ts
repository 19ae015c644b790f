import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startRedisServer } from '../stack/redis-server.ts';
import { runCommand, say } from './command.ts';
import { publishFaults } from './fault-report.ts';
import { median } from './median.ts';
import { numberFlag } from './number-flag.ts';
import { spreadOf, spreadsOf } from './spread.ts';
import { startArguments } from './processes/start-arguments.ts';
import { costOfStart, partsOfStart } from './start/start-once.ts';
import type { StartCost, StartPlan } from './start/start-once.ts';

const USAGE = `CPU, time and memory of a start, until the banner: embedded, and as a gateway and a worker beside
Redis; and the packages and folders of crier that took longest.

Usage: npm run bench:start -- [flags]

  --rounds <number>  starts of each role; default: 5
  --base <folder>    another checkout of crier, built: its starts alternate with those of this one
  --limit <ratio>    most CPU against the base, embedded and as a gateway; default: none
  --out <name>       loadtest/results/<name>.json and .md; default: start
  --help

Exits with 1 if a start takes more than --limit times the CPU of the base.
`;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    base: { type: 'string' },
    limit: { type: 'string' },
    out: { type: 'string', default: 'start' },
    help: { type: 'boolean', short: 'h' },
  },
});

/** Packages and folders that are listed. */
const MAX_PARTS = 12;

const FIGURES = {
  'CPU, ms': ({ cpuMs }: StartCost) => cpuMs,
  'wall, ms': ({ wallMs }: StartCost) => wallMs,
  'RSS, MB': ({ rssBytes }: StartCost) => rssBytes / 2 ** 20,
};

/** The starts of one role, in the order of their rounds. */
interface RoleStarts {
  readonly role: string;
  readonly crier: StartCost[];
  readonly base: StartCost[];
}

async function main(): Promise<void> {
  if (values.help) return void process.stdout.write(USAGE);
  const rounds = numberFlag('rounds', values.rounds);
  const limit = values.limit === undefined ? Infinity : Number(values.limit);
  if (Number.isNaN(limit)) throw new Error(`--limit: expected a number, got "${values.limit}"`);
  const base = values.base === undefined ? undefined : resolve(values.base, 'dist/src/main.js');
  const redis = await startRedisServer();
  try {
    // No broker answers there: the banner does not wait for one.
    const apart = { REDIS_URL: redis.url, KAFKA_BROKERS: '127.0.0.1:9', CHANNEL_PREFIX: 'bench:' };
    const environments = { embedded: {}, gateway: { ROLE: 'gateway', ...apart }, worker: { ROLE: 'worker', ...apart } };
    const starts: RoleStarts[] = [];
    const dearest: Record<string, string> = {};
    for (const [role, environment] of Object.entries(environments)) {
      const planOf = (script: string): StartPlan => ({ script, nodeArguments: startArguments(), environment });
      const own = planOf('dist/src/main.js');
      const one: RoleStarts = { role, crier: [], base: [] };
      for (let round = 1; round <= rounds; round++) {
        one.crier.push(await costOfStart(own));
        if (base !== undefined) one.base.push(await costOfStart(planOf(base)));
        say(`${role}, round ${round}: ${one.crier.at(-1)!.cpuMs} ms of CPU`);
      }
      starts.push(one);
      dearest[role] = dearestOf(await partsOfStart(own));
    }
    const table = [
      ['role and figure', 'median', 'min', 'max', ...(base === undefined ? [] : ['base', 'ratio'])],
      ...starts.flatMap(linesOf),
    ];
    const faults = starts.flatMap(({ role, crier, base }) => {
      const ratio = ratioOf(crier, base, ({ cpuMs }) => cpuMs);
      return ratio > limit && role !== 'worker' ? [`${role}: ${ratio.toFixed(2)} times the CPU of the base`] : [];
    });
    const success = Object.entries(dearest).map(([role, text]) => `Took longest in one start, ${role}: ${text}.`);
    process.stdout.write(`${success.join('\n')}\n`);
    await publishFaults({
      command: 'start',
      name: values.out,
      flags: values,
      table,
      success: success.join(' '),
      faults,
      data: {
        rounds,
        crier: Object.fromEntries(starts.map(({ role, crier }) => [role, spreadsOf(crier, FIGURES)])),
        ...(base !== undefined && {
          base: Object.fromEntries(starts.map(({ role, base }) => [role, spreadsOf(base, FIGURES)])),
        }),
      },
    });
  } finally {
    await redis.stop();
  }
}

function linesOf({ role, crier, base }: RoleStarts): string[][] {
  return Object.entries(FIGURES).map(([name, read]) => {
    const own = spreadOf(crier.map(read));
    const figures = [own.median, own.min, own.max].map((value) => value.toFixed(0));
    const against = base.length > 0 ? [median(base.map(read)).toFixed(0), ratioOf(crier, base, read).toFixed(2)] : [];
    return [`${role}: ${name}`, ...figures, ...against];
  });
}

/** Of the medians; 0 without a base. */
function ratioOf(crier: readonly StartCost[], base: readonly StartCost[], read: (cost: StartCost) => number): number {
  return base.length > 0 ? median(crier.map(read)) / median(base.map(read)) : 0;
}

/** `graphql 80 ms, src/graph 41 ms` */
function dearestOf(times: ReadonlyMap<string, number>): string {
  const sorted = [...times].sort(([, a], [, b]) => b - a).slice(0, MAX_PARTS);
  return sorted.map(([part, ms]) => `${part} ${ms.toFixed(0)} ms`).join(', ');
}

runCommand('start', main);
