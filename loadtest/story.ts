import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runCommand, say } from './command.ts';
import { conditionsOf } from './fanout/conditions.ts';
import { numberFlag } from './number-flag.ts';
import { CLIENT_CORE, pinThisProcess } from './processes/pinning.ts';
import { missedBounds } from './story/backlog/bounds.ts';
import type { OpenLoop } from './story/flood/flood-phases.ts';
import { COUNTS_NOTE, remarks } from './story/report/remarks.ts';
import { tablesOf, textTable } from './story/report/tables.ts';
import { FULL_PHASES, SHORT_PHASES } from './story/result.ts';
import type { Phases, StoryResult } from './story/result.ts';
import { runStory } from './story/run.ts';
import type { StoryOptions } from './story/run.ts';
import { sampleLine } from './story/report/sample-line.ts';
import { selectionOf } from './story/selection.ts';
import { startStack } from './story/stack.ts';
import { writeStory } from './story/report/story-files.ts';
import { podSets, podSetOf, withSettings } from './story/pods/pod-set.ts';
import type { PodSet } from './story/pods/pod-set.ts';

const USAGE = `The story: crier without sockets, then with thousands of idle sockets, then in a flood that does not wait for deliveries.

Usage: npm run loadtest -- [flags]

  --sockets <number>      default: 4000
  --pods <names>          runs these one after the other: ${podSets.map(({ name }) => name).join(', ')}; default: one
  --fields <name>         all, or few (as in docs/performance.md); default: all
  --full                  phases of 120, 120 and 240 seconds, as in the talk, instead of 10, 20 and 40
  --bare <seconds>        duration without sockets
  --idle <seconds>        duration after all sockets have connected
  --pace <seconds>        duration of the closed loop that measures the delivered rate; default: 10
  --flood <seconds>       duration of writing; the drain follows
  --times <number>        records that the flood writes, as a multiple of the delivered rate; default: 2
  --ahead <records>       floods by a closed loop with this many records in flight; excludes --pace and --times
  --flow <on|off>         flow control; default: on
  --producer <name>       kcat, or kafkajs in this process; default: kcat if it is installed
  --concurrency <number>  concurrent writers, each with its own partition; default: 3
  --out <name>            loadtest/results/<name>.html, .svg and .json, <name>-<pods> for several --pods; default: story
  --open                  opens the report in a browser
  --help

  --ladder --help         the steps from the talk's baseline to crier
  --scenario --help       mixed loads

Exits with 1 when a record did not reach every socket exactly once and in partition order, or a bound was missed.
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
  const writerCount = numberFlag('concurrency', values.concurrency);
  const ahead = readAhead();
  const openLoop = ahead === undefined ? readOpenLoop() : undefined;
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
    for (const podSet of plays) {
      const load = { sockets, writerCount, partitions: writerCount, query, ahead, openLoop, hasKcat };
      const result = await runStory(podSet, phases, { ...stack, ...load, signal, ...progress });
      const conditions = conditionsFor(result, phases, stack.kind, { writerCount, ahead, openLoop });
      await publish(plays.length > 1 ? `${values.out}-${podSet.name}` : values.out, result, conditions);
    }
  } finally {
    await stack.stop();
  }
}

function conditionsFor(
  { title, producer }: StoryResult,
  phases: Phases,
  stack: string,
  { writerCount, ahead, openLoop }: { writerCount: number; ahead: number | undefined; openLoop: OpenLoop | undefined },
) {
  const pace = openLoop ? `${openLoop.paceSeconds} s pace, ` : '';
  const how = openLoop
    ? `${openLoop.times} times the pace phase's rate`
    : `${ahead} records ahead of the slowest socket`;
  return {
    ...conditionsOf(),
    pods: title,
    phases: `${phases.bareSeconds} s bare, ${phases.idleSeconds} s idle, ${pace}${phases.floodSeconds} s flood`,
    flood: `${writerCount} × ${producer}, ${how}`,
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
  const faults = [...result.faults, ...missedBounds(result.openLoop?.bounds ?? [])];
  for (const fault of faults) say(`loadtest: ${result.title}: ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
}

/** Time for xdg-open to start or fail. */
const OPENING_MS = 500;

async function openFile(path: string): Promise<void> {
  const child = spawn('xdg-open', [resolve(path)], { stdio: 'ignore', detached: true });
  child.once('error', () => say(`--open: xdg-open is not installed; open ${resolve(path)}`));
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

/** @throws Error naming a flag that `--ahead` excludes, because its flood has neither a pace phase nor a rate. */
function readAhead(): number | undefined {
  if (values.ahead === undefined) return undefined;
  for (const flag of ['pace', 'times'] as const) {
    if (values[flag] !== undefined) throw new Error(`--${flag}: cannot be combined with --ahead`);
  }
  return numberFlag('ahead', values.ahead);
}

/** @throws Error for an unknown name, and for a repeated one, whose results would overwrite each other. */
function readPods(): PodSet[] {
  const names = values.pods.split(',');
  const repeated = names.find((name, i) => names.indexOf(name) !== i);
  if (repeated !== undefined) throw new Error(`--pods: "${repeated}" is named twice`);
  return names.map((name) => withFlow(podSetOf(name)));
}

function readOpenLoop(): OpenLoop {
  return { paceSeconds: numberFlag('pace', values.pace ?? '10'), times: numberFlag('times', values.times ?? '2') };
}

function withFlow(podSet: PodSet): PodSet {
  if (!/^(on|off)$/.test(values.flow)) throw new Error(`--flow: expected on or off, got "${values.flow}"`);
  return values.flow === 'on' ? podSet : withSettings(podSet, { FLOW_TARGET_MS: '0' });
}

runCommand('loadtest', main);
