import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startRedisServer } from '../stack/redis-server.ts';
import { attacks } from './attacks/attack.ts';
import type { Attack } from './attacks/attack.ts';
import { answersTable, attackTable, findingsOf } from './attacks/report.ts';
import { runTrial } from './attacks/trial.ts';
import type { Trial } from './attacks/trial.ts';
import { runCommand, say } from './command.ts';
import { conditionsList, conditionsOf } from './fanout/conditions.ts';
import type { Conditions } from './fanout/conditions.ts';
import { numberFlag } from './number-flag.ts';
import { CLIENT_CORE, pinThisProcess } from './processes/pinning.ts';
import { writeResult } from './result-files.ts';
import { markdownTable, textTable } from './table.ts';

const USAGE = `Measures what hostile clients cost the other clients of a gateway: healthy sockets with a steady flow of events, and an attacker.

Usage: npm run bench:attacks -- [flags]

  --attacks <names>   of ${attacks.map(({ name }) => name).join(', ')}; default: all
  --base <folder>     another checkout of crier, built: attacked in the same run
  --control           also send each attack to a process that only reads, on the server's core: shows the share of the
                      client's core and of the kernel
  --sockets <number>  healthy sockets; default: 1000
  --seconds <number>  duration of each phase (before, during, after); default: 20
  --out <name>        files loadtest/results/<name>.json and .md; default: attacks

Exits with 1 when this build (not the base) misses a bound: /healthz p99 100 ms, p99 of deliveries 1.5 times that before the
attack, 1 MB kept for a socket, no healthy socket closed.
`;

const { values } = parseArgs({
  options: {
    attacks: { type: 'string', default: attacks.map(({ name }) => name).join(',') },
    base: { type: 'string' },
    control: { type: 'boolean', default: false },
    sockets: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '20' },
    out: { type: 'string', default: 'attacks' },
    help: { type: 'boolean', short: 'h' },
  },
});

async function main(signal: AbortSignal): Promise<number | void> {
  if (values.help) return void process.stdout.write(USAGE);
  const chosen = values.attacks.split(',').map(attackOf);
  const builds = buildsOf();
  const healthySockets = numberFlag('sockets', values.sockets);
  const seconds = numberFlag('seconds', values.seconds);
  pinThisProcess(CLIENT_CORE);
  const redis = await startRedisServer();
  const trials: Trial[] = [];
  const findings: string[] = [];
  try {
    for (const attack of chosen) {
      for (const { build, script, isControl } of builds) {
        signal.throwIfAborted();
        const onPhase = (phase: string) => say(`${attack.name}, ${build}: ${phase}`);
        const redisUrl = redis.url;
        const trial = await runTrial({ attack, build, script, isControl, redisUrl, healthySockets, seconds, onPhase });
        trials.push(trial);
        if (build === 'crier') findings.push(...findingsOf(trial, attack));
      }
    }
  } finally {
    await redis.stop();
  }
  await publish(chosen, trials, findings, { healthySockets, seconds });
  return findings.length > 0 ? 1 : 0;
}

async function publish(
  chosen: readonly Attack[],
  trials: readonly Trial[],
  findings: readonly string[],
  settings: Conditions,
): Promise<void> {
  const conditions = { ...conditionsOf(['node_modules/ws', 'node_modules/graphql']), ...settings };
  const tables = [attackTable(trials), answersTable(trials)];
  const lines = [
    ...chosen.map(({ name, title }) => `- \`${name}\`: ${title}`),
    '',
    ...tables.flatMap((table) => [markdownTable(table)]),
    ...(findings.length > 0 ? findings.map((finding) => `- ${finding}`) : ['No bound was exceeded.']),
    '',
    conditionsList(conditions),
  ];
  const md = `# Attacks\n\n${lines.join('\n')}`;
  const paths = await writeResult(values.out, { conditions, findings, trials }, { md });
  for (const table of tables) process.stdout.write(`${textTable(table)}\n`);
  for (const finding of findings) process.stdout.write(`${finding}\n`);
  process.stdout.write(`${paths.join(' ')}\n`);
}

function attackOf(name: string): Attack {
  const found = attacks.find((attack) => attack.name === name);
  if (found) return found;
  throw new Error(`--attacks: expected ${attacks.map((attack) => attack.name).join(', ')}, got "${name}"`);
}

interface Build {
  readonly build: string;
  readonly script: string;
  readonly isControl: boolean;
}

function buildsOf(): Build[] {
  const script = resolve(import.meta.dirname, '../src/main.js');
  const builds: Build[] = [{ build: 'crier', script, isControl: false }];
  if (values.control) builds.unshift({ build: 'control', script, isControl: true });
  if (values.base !== undefined) {
    const base = join(resolve(values.base), 'dist/src/main.js');
    if (!existsSync(base)) throw new Error(`--base: ${base} is missing; run npm ci && npm run build there`);
    builds.unshift({ build: 'base', script: base, isControl: false });
  }
  return builds;
}

runCommand('bench:attacks', main);
