import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runCommand, say } from './command.ts';
import { conditionsOf } from './fanout/conditions.ts';
import { CLIENT_CORE, pinThisProcess } from './pinning.ts';
import { recordsAhead } from './story/flood.ts';
import { COUNTS_NOTE, countsTable, heapTable, remarks, textTable } from './story/report.ts';
import { FULL_PHASES, SHORT_PHASES } from './story/result.ts';
import type { Phases, StoryResult } from './story/result.ts';
import { runStory } from './story/run.ts';
import { sampleLine } from './story/sample-line.ts';
import { startStack } from './story/stack.ts';
import { writeStory } from './story/story-files.ts';
import { topologies, topologyOf } from './story/topology.ts';
import { numberFlag } from './number-flag.ts';

const USAGE = `The story: one crier pod, bare, then with thousands of idle sockets, then in a flood of copies of one record.

Usage: npm run loadtest -- [flags]

  --sockets <number>      default: 4000
  --pods <names>          one after the other, of ${topologies.map(({ name }) => name).join(', ')}; default: one
  --full                  phases of 120, 120 and 240 seconds, as in the talk, instead of 10, 20 and 40
  --bare <seconds>        of the bare process
  --idle <seconds>        after all sockets have connected
  --flood <seconds>       of producing; draining comes after it
  --producer <name>       kcat, or kafkajs in this process; default: kcat where it is there
  --concurrency <number>  producers that write at the same time, each to a partition of its own; default: 3
  --ahead <records>       on their way to the slowest socket at a time; default: 96000 / sockets, at most 400
  --out <name>            loadtest/results/<name>.html, .svg and .json, <name>-<pods> for several --pods; default: story
  --open                  opens the report in a browser
  --help

  --ladder --help         the variants between the talk's baseline and crier
  --scenario --help       the realistic tests

Exits with 1 when a record did not reach every socket once, in the order of its partition.
`;

const { values } = parseArgs({
  options: {
    sockets: { type: 'string', default: '4000' },
    pods: { type: 'string', default: 'one' },
    full: { type: 'boolean', default: false },
    bare: { type: 'string' },
    idle: { type: 'string' },
    flood: { type: 'string' },
    concurrency: { type: 'string', default: '3' },
    ahead: { type: 'string' },
    producer: { type: 'string', default: 'kcat' },
    out: { type: 'string', default: 'story' },
    open: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h' },
  },
});

async function main(signal: AbortSignal): Promise<void> {
  if (values.help) return void process.stdout.write(USAGE);
  const sockets = numberFlag('sockets', values.sockets);
  const loops = numberFlag('concurrency', values.concurrency);
  const ahead = values.ahead === undefined ? recordsAhead(sockets) : numberFlag('ahead', values.ahead);
  const phases = readPhases();
  const plays = values.pods.split(',').map(topologyOf);
  if (!/^(kcat|kafkajs)$/.test(values.producer)) {
    throw new Error(`--producer: expected kcat or kafkajs, got "${values.producer}"`);
  }
  pinThisProcess(CLIENT_CORE);
  const stack = await startStack(say, signal);
  const hasKcat = stack.hasKcat && values.producer === 'kcat';
  try {
    const onSample = (sample: Parameters<typeof sampleLine>[0]) => say(sampleLine(sample));
    for (const topology of plays) {
      const load = { sockets, loops, partitions: loops, hasKcat, ahead };
      const result = await runStory(topology, phases, { ...stack, ...load, signal, onSample });
      const conditions = conditionsFor(result, phases, stack.kind, { loops, ahead });
      await publish(plays.length > 1 ? `${values.out}-${topology.name}` : values.out, result, conditions);
    }
  } finally {
    await stack.stop();
  }
}

function conditionsFor(
  { title, producer }: StoryResult,
  phases: Phases,
  stack: string,
  { loops, ahead }: { loops: number; ahead: number },
) {
  return {
    ...conditionsOf(),
    pods: title,
    phases: `${phases.bareSeconds} s bare, ${phases.idleSeconds} s idle, ${phases.floodSeconds} s flood`,
    flood: `${loops} × ${producer}, ${ahead} records ahead of the slowest socket`,
    stack,
    command: `npm run loadtest -- ${process.argv.slice(2).join(' ')}`.trimEnd(),
  };
}

async function publish(name: string, result: StoryResult, conditions: Parameters<typeof writeStory>[2]): Promise<void> {
  const { html, svg, json } = await writeStory(name, result, conditions);
  const tables = [countsTable(result), heapTable(result)].map(textTable).join('\n');
  process.stdout.write(`\n${tables}\n${remarks(result).join('\n')}\n${COUNTS_NOTE}\n\n${html} ${svg} ${json}\n`);
  if (values.open) await openFile(html);
  else process.stdout.write(`Open it: xdg-open ${html}\n`);
  for (const fault of result.faults) say(`loadtest: ${result.title}: ${fault}`);
  if (result.faults.length > 0) process.exitCode = 1;
}

/** What a browser that is being opened gets before this process ends. */
const OPENING_MS = 500;

async function openFile(path: string): Promise<void> {
  const child = spawn('xdg-open', [resolve(path)], { stdio: 'ignore', detached: true });
  child.once('error', () => say(`--open: xdg-open was not found; open ${resolve(path)}`));
  child.unref();
  await delay(OPENING_MS);
}

function readPhases(): Phases {
  const defaults = values.full ? FULL_PHASES : SHORT_PHASES;
  const seconds = (flag: 'bare' | 'idle' | 'flood', fallback: number) =>
    values[flag] === undefined ? fallback : numberFlag(flag, values[flag]);
  return {
    bareSeconds: seconds('bare', defaults.bareSeconds),
    idleSeconds: seconds('idle', defaults.idleSeconds),
    floodSeconds: seconds('flood', defaults.floodSeconds),
  };
}

runCommand('loadtest', main);
