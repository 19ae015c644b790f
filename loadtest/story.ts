import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runCommand, say } from './command.ts';
import { conditionsOf } from './fanout/conditions.ts';
import { numberFlag } from './number-flag.ts';
import { CLIENT_CORE, pinThisProcess } from './processes/pinning.ts';
import { missedBounds } from './story/backlog/bounds.ts';
import type { FreeFlood } from './story/flood/flood-phases.ts';
import { COUNTS_NOTE, remarks, tablesOf, textTable } from './story/report/report.ts';
import { FULL_PHASES, SHORT_PHASES } from './story/result.ts';
import type { Phases, StoryResult } from './story/result.ts';
import { runStory } from './story/run.ts';
import type { StoryOptions } from './story/run.ts';
import { sampleLine } from './story/report/sample-line.ts';
import { selectionOf } from './story/selection.ts';
import { startStack } from './story/stack.ts';
import { writeStory } from './story/report/story-files.ts';
import { topologies, topologyOf, withSettings } from './story/pods/pod-set.ts';
import type { Topology } from './story/pods/pod-set.ts';

const USAGE = `The story: crier bare, then with thousands of idle sockets, then in a flood of copies of one record that waits for nobody.

Usage: npm run loadtest -- [flags]

  --sockets <number>      default: 4000
  --pods <names>          one after the other, of ${topologies.map(({ name }) => name).join(', ')}; default: one
  --fields <name>         all, or few as in the flood by hand of docs/performance.md; default: all
  --full                  phases of 120, 120 and 240 seconds, as in the talk, instead of 10, 20 and 40
  --bare <seconds>        of the bare process
  --idle <seconds>        after all sockets have connected
  --pace <seconds>        of a closed loop, whose pace says how much the flood writes; default: 10
  --flood <seconds>       of producing; draining comes after it
  --times <number>        how many times as much as the closed loop the flood writes; default: 2
  --ahead <records>       no free flood but the closed loop: records on their way to the slowest socket at a time
  --flow <on|off>         flow control; off shows what it is for. Default: on
  --producer <name>       kcat, or kafkajs in this process; default: kcat where it is there
  --concurrency <number>  producers that write at the same time, each to a partition of its own; default: 3
  --out <name>            loadtest/results/<name>.html, .svg and .json, <name>-<pods> for several --pods; default: story
  --open                  opens the report in a browser
  --help

  --ladder --help         the variants between the talk's baseline and crier
  --scenario --help       the realistic tests

Exits with 1 when a record did not reach every socket once, in the order of its partition, or a bound was missed.
`;

const { values } = parseArgs({
  options: {
    sockets: { type: 'string', default: '4000' },
    pods: { type: 'string', default: 'one' },
    fields: { type: 'string', default: 'all' },
    full: { type: 'boolean', default: false },
    bare: { type: 'string' },
    idle: { type: 'string' },
    pace: { type: 'string' },
    flood: { type: 'string' },
    times: { type: 'string' },
    ahead: { type: 'string' },
    flow: { type: 'string', default: 'on' },
    concurrency: { type: 'string', default: '3' },
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
  const ahead = readAhead();
  const free = ahead === undefined ? readFreeFlood() : undefined;
  const query = selectionOf(values.fields);
  const phases = readPhases();
  const plays = readPods();
  if (!/^(kcat|kafkajs)$/.test(values.producer)) {
    throw new Error(`--producer: expected kcat or kafkajs, got "${values.producer}"`);
  }
  if (!/^[\w.-]+$/.test(values.out)) throw new Error(`--out: expected a file name, got "${values.out}"`);
  pinThisProcess(CLIENT_CORE);
  const stack = await startStack(say, signal);
  try {
    const hasKcat = stack.hasKcat && values.producer === 'kcat';
    const progress: Pick<StoryOptions, 'onSample' | 'onNote'> = {
      onSample: (sample) => say(sampleLine(sample)),
      onNote: say,
    };
    for (const topology of plays) {
      const load = { sockets, loops, partitions: loops, query, ahead, free, hasKcat };
      const result = await runStory(topology, phases, { ...stack, ...load, signal, ...progress });
      const conditions = conditionsFor(result, phases, stack.kind, { loops, ahead, free });
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
  { loops, ahead, free }: { loops: number; ahead: number | undefined; free: FreeFlood | undefined },
) {
  const pace = free ? `${free.paceSeconds} s pace, ` : '';
  const how = free ? `${free.times} times the closed loop's pace` : `${ahead} records ahead of the slowest socket`;
  return {
    ...conditionsOf(),
    pods: title,
    phases: `${phases.bareSeconds} s bare, ${phases.idleSeconds} s idle, ${pace}${phases.floodSeconds} s flood`,
    flood: `${loops} × ${producer}, ${how}`,
    fields: values.fields,
    flow: values.flow,
    stack,
    command: `npm run loadtest -- ${process.argv.slice(2).join(' ')}`.trimEnd(),
  };
}

async function publish(name: string, result: StoryResult, conditions: Parameters<typeof writeStory>[2]): Promise<void> {
  const { html, svg, json } = await writeStory(name, result, conditions);
  const tables = tablesOf(result).map(textTable).join('\n');
  process.stdout.write(`\n${tables}\n${remarks(result).join('\n')}\n${COUNTS_NOTE}\n\n${html} ${svg} ${json}\n`);
  if (values.open) await openFile(html);
  else process.stdout.write(`Open it: xdg-open ${html}\n`);
  const faults = [...result.faults, ...missedBounds(result.free?.bounds ?? [])];
  for (const fault of faults) say(`loadtest: ${result.title}: ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
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

/** @throws Error naming a flag that `--ahead` excludes: its flood has no pace phase and no rate. */
function readAhead(): number | undefined {
  if (values.ahead === undefined) return undefined;
  for (const flag of ['pace', 'times'] as const) {
    if (values[flag] !== undefined) throw new Error(`--${flag}: cannot be combined with --ahead`);
  }
  return numberFlag('ahead', values.ahead);
}

/** @throws Error for a name that is unknown, or named twice: its results would overwrite each other. */
function readPods(): Topology[] {
  const names = values.pods.split(',');
  const repeated = names.find((name, i) => names.indexOf(name) !== i);
  if (repeated !== undefined) throw new Error(`--pods: "${repeated}" is named twice`);
  return names.map((name) => withFlow(topologyOf(name)));
}

function readFreeFlood(): FreeFlood {
  return { paceSeconds: numberFlag('pace', values.pace ?? '10'), times: numberFlag('times', values.times ?? '2') };
}

function withFlow(topology: Topology): Topology {
  if (!/^(on|off)$/.test(values.flow)) throw new Error(`--flow: expected on or off, got "${values.flow}"`);
  return values.flow === 'on' ? topology : withSettings(topology, { FLOW_TARGET_MS: '0' });
}

runCommand('loadtest', main);
