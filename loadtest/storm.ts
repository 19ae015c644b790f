import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startRedisServer } from '../stack/redis-server.ts';
import { runCommand, say } from './command.ts';
import { publishFaults } from './fault-report.ts';
import { numberFlag } from './number-flag.ts';
import { CLIENT_CORE, pinThisProcess } from './processes/pinning.ts';
import { stormChart, stormFaults, stormTable } from './storm/report.ts';
import { stormTrial } from './storm/trial.ts';
import type { StormFigures, StormKind, StormSubject } from './storm/trial.ts';

const USAGE = `Lets a crowd of clients arrive at a pod that a flood keeps busy: fresh clients, then the clients of a drained pod, which resume.

Usage: npm run loadtest -- --scenario storm [flags]

  --sockets <number>   clients that arrive at once; default: 5000
  --drained <number>   clients of a drained pod, which resume with a cursor; 0: none; default: 4000
  --steady <number>    clients that are connected before and receive the flood; default: 1000
  --auctions <number>  channels of the arriving clients; default: 500
  --missed <number>    events that a client of a drained pod has missed; default: 5
  --cpu <percent>      share of its core that the flood takes of the first server; the others get the same flood; default: 90
  --servers <names>    of crier and raw-ws; default: both
  --base <folder>      another checkout of crier, built: measured in the same run
  --out <name>         loadtest/results/<name>.json, .md and .svg; default: scenario-storm
  --help

Exits with 1 if crier (not its base) misses a bound: all subscribed within 10 s, no pause of a steady client beyond 250 ms, lag p99 at
most 50 ms, each client with each of its events once, no steady client closed.
`;

const { values } = parseArgs({
  options: {
    scenario: { type: 'string' },
    sockets: { type: 'string', default: '5000' },
    drained: { type: 'string', default: '4000' },
    steady: { type: 'string', default: '1000' },
    auctions: { type: 'string', default: '500' },
    missed: { type: 'string', default: '5' },
    cpu: { type: 'string', default: '90' },
    servers: { type: 'string', default: 'crier,raw-ws' },
    base: { type: 'string' },
    out: { type: 'string', default: 'scenario-storm' },
    help: { type: 'boolean', short: 'h' },
  },
});

async function main(signal: AbortSignal): Promise<void> {
  if (values.help) return void process.stdout.write(USAGE);
  const number = (flag: 'sockets' | 'drained' | 'steady' | 'auctions' | 'missed' | 'cpu') =>
    numberFlag(flag, values[flag], flag === 'drained' ? 0 : 1);
  const settings = {
    steady: number('steady'),
    auctions: number('auctions'),
    missed: number('missed'),
    cpuPercent: number('cpu'),
  };
  const subjects = subjectsOf();
  pinThisProcess(CLIENT_CORE);
  const storms: [StormKind, number][] = [['fresh', number('sockets')]];
  if (number('drained') > 0) storms.push(['drained', number('drained')]);
  const figures: StormFigures[] = [];
  for (const [kind, sockets] of storms) {
    let rate: number | undefined;
    for (const subject of subjects) {
      signal.throwIfAborted();
      // `ws` has no history: its drained clients would be fresh ones.
      if (kind === 'drained' && !subject.isCrier) continue;
      const redis = await startRedisServer();
      try {
        figures.push(await stormTrial(subject, kind, { ...settings, sockets }, redis.url, say, rate));
        rate ??= figures.at(-1)!.floodEventsPerSecond;
      } finally {
        await redis.stop();
      }
    }
  }
  await publishFaults({
    command: 'storm',
    name: values.out,
    flags: values,
    table: stormTable(figures),
    success: 'Every bound was kept.',
    faults: figures.filter(({ subject }) => subject === 'crier').flatMap(stormFaults),
    data: { figures },
    picture: () => stormChart(figures),
  });
}

function subjectsOf(): StormSubject[] {
  const scripts = import.meta.dirname;
  const subjects: StormSubject[] = [
    { name: 'crier', title: 'crier', script: join(scripts, '../src/main.js'), isCrier: true },
    { name: 'raw-ws', title: 'raw ws', script: join(scripts, 'servers/raw-ws.js'), isCrier: false },
  ];
  const chosen = values.servers.split(',').map((name) => {
    const found = subjects.find((subject) => subject.name === name);
    if (found) return found;
    throw new Error(`--servers: expected ${subjects.map((one) => one.name).join(', ')}, got "${name}"`);
  });
  if (values.base === undefined) return chosen;
  const script = resolve(values.base, 'dist/src/main.js');
  if (!existsSync(script)) throw new Error(`--base: ${script} is missing; run npm ci && npm run build there`);
  return [...chosen, { name: 'base', title: 'crier, base', script, isCrier: true }];
}

runCommand('storm', main);
