import { parseArgs } from 'node:util';
import { runCommand, say } from './command.ts';
import { conditionsOf } from './fanout/conditions.ts';
import { PARTS, climb } from './ladder/climb.ts';
import { ladderPicture } from './ladder/picture.ts';
import { ladderTable, markdownReport, semiSpaceTable } from './ladder/report.ts';
import type { Report } from './ladder/report.ts';
import { numberFlag } from './number-flag.ts';
import { CLIENT_CORE, pinThisProcess } from './processes/pinning.ts';
import { writeResult } from './result-files.ts';
import { startStack } from './story/stack.ts';
import { textTable } from './table.ts';

const USAGE = `Plays the story with each pod in turn: the talk's baseline, each of its steps, each of crier's techniques, and crier.

Usage: npm run loadtest -- --ladder [flags]

  --sockets <number>      default: 4000
  --bare <seconds>        duration without sockets; default: 2
  --idle <seconds>        duration after all sockets have connected; default: 6
  --flood <seconds>       duration of writing; default: 30
  --concurrency <number>  concurrent kcat processes; default: 3
  --parts <names>         of ${PARTS.join(', ')}; default: all
  --out <name>            loadtest/results/<name>.json, .md and .svg; default: ladder
  --help

Exits with 1 unless every record reached every socket exactly once, and crier sends 100 times the messages of the baseline and 20 times
those of the talk's end state, with a lower idle plateau.
`;

const { values } = parseArgs({
  options: {
    ladder: { type: 'boolean' },
    sockets: { type: 'string', default: '4000' },
    bare: { type: 'string', default: '2' },
    idle: { type: 'string', default: '6' },
    flood: { type: 'string', default: '30' },
    concurrency: { type: 'string', default: '3' },
    parts: { type: 'string', default: PARTS.join(',') },
    out: { type: 'string', default: 'ladder' },
    help: { type: 'boolean', short: 'h' },
  },
});

async function main(signal: AbortSignal): Promise<void> {
  if (values.help) return void process.stdout.write(USAGE);
  const sockets = number('sockets');
  const phases = { bareSeconds: number('bare'), idleSeconds: number('idle'), floodSeconds: number('flood') };
  const parts = values.parts.split(',').map(partOf);
  const writerCount = number('concurrency');
  pinThisProcess(CLIENT_CORE);
  const stack = await startStack(say, signal);
  let report: Report;
  try {
    const climbed = await climb({ ...stack, sockets, writerCount, phases, parts, signal, say });
    const conditions = {
      ...conditionsOf(),
      sockets,
      phases: `${phases.bareSeconds} s bare, ${phases.idleSeconds} s idle, ${phases.floodSeconds} s flood`,
      stack: stack.kind,
      command: `npm run loadtest -- ${process.argv.slice(2).join(' ')}`,
    };
    report = { conditions, ...climbed };
  } finally {
    await stack.stop();
  }
  await publish(report);
}

async function publish(report: Report): Promise<void> {
  const { conditions, rows, semiSpaces, faults } = report;
  const note = `Node ${conditions['node']}, ${conditions['cpu']}, ${conditions['sockets']} sockets; ${conditions['date']}`;
  const texts = { md: markdownReport(values.out, report), svg: ladderPicture(rows, note) };
  const paths = await writeResult(values.out, report, texts);
  process.stdout.write(`\n${textTable(ladderTable(rows))}\n`);
  if (semiSpaces.length > 0) process.stdout.write(`${textTable(semiSpaceTable(semiSpaces))}\n`);
  process.stdout.write(`${paths.join(' ')}\n`);
  for (const fault of faults) say(`loadtest: ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
}

function partOf(name: string): string {
  if (!PARTS.includes(name)) throw new Error(`--parts: expected ${PARTS.join(', ')}, got "${name}"`);
  return name;
}

function number(flag: 'sockets' | 'bare' | 'idle' | 'flood' | 'concurrency'): number {
  return numberFlag(flag, values[flag]);
}

runCommand('loadtest', main);
