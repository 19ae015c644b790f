import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCommand, say } from './command.ts';
import { numberFlag } from './number-flag.ts';
import { installPackages } from './packages.ts';
import { CLIENT_CORE, pinThisProcess } from './processes/pinning.ts';
import { recordHeapComparison, rungPair, settingsPair } from './profile/compare-heaps.ts';
import { recordInlineCaches } from './profile/inline-caches.ts';
import { recordCpu, recordHeap, recordHeapDiff } from './profile/recorders.ts';
import type { Recording } from './profile/recording.ts';
import type { StoryResult } from './story/result.ts';
import { runStory } from './story/run.ts';
import { sampleLine } from './story/report/sample-line.ts';
import { startStack } from './story/stack.ts';
import { singlePod } from './story/pods/pod-set.ts';

const USAGE = `Profiles a crier pod during the story (npm run loadtest), to find the next bottleneck.

Usage: npm run profile -- cpu|heap|heapdiff|inline-caches [flags]

  cpu            a flame graph of the flood (HTML) and its .cpuprofile
  heap           a heap snapshot after the flood, with the sockets open
  heapdiff       heap snapshots before and after a phase, and their difference by constructor
  inline-caches  property accesses of the flood that are polymorphic or megamorphic: where, how often, their share of the CPU

  --phase <idle|flood>  for heapdiff: growth while the sockets connect, or during the flood; default: flood
  --rungs <before>,<after>  for heapdiff: two rungs of the ladder, idle, instead of one pod at two times
  --before <settings>   for heapdiff: crier with these settings (NAME=value,...) and with its defaults, idle
  --out <name>          for these two: loadtest/results/<name>.md; default: trial-heap
  --per-user            every socket has a result of its own
  --sockets <number>    default: 4000
  --bare, --idle, --flood <seconds>  default: 3, 5, 15
  --concurrency <number>  kcat processes; default: 3
  --help

inline-caches floods two pods: one counts and logs, one has a CPU profile. It does not see which functions a call reaches.
Pods inherit the environment: SHARING=off npm run profile -- inline-caches.

Writes into loadtest/profiles/. A profiled pod is slower; for figures use npm run loadtest. cpu and heapdiff install
loadtest/package.json (0x and @memlab/core) when they first run.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    phase: { type: 'string', default: 'flood' },
    rungs: { type: 'string' },
    before: { type: 'string' },
    out: { type: 'string', default: 'trial-heap' },
    'per-user': { type: 'boolean', default: false },
    sockets: { type: 'string', default: '4000' },
    bare: { type: 'string', default: '3' },
    idle: { type: 'string', default: '5' },
    flood: { type: 'string', default: '15' },
    concurrency: { type: 'string', default: '3' },
    help: { type: 'boolean', short: 'h' },
  },
});

async function main(signal: AbortSignal): Promise<void> {
  const [kind] = positionals;
  if (values.help) return void process.stdout.write(USAGE);
  const folder = join('loadtest', 'profiles', `${kind}-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}`);
  const recording = await createRecording(kind, folder);
  const phases = {
    bareSeconds: numberFlag('bare', values.bare),
    idleSeconds: numberFlag('idle', values.idle),
    floodSeconds: recording.isIdle ? 1 : numberFlag('flood', values.flood),
  };
  const sockets = numberFlag('sockets', values.sockets);
  const writerCount = numberFlag('concurrency', values.concurrency);
  if (kind === 'cpu' || kind === 'heapdiff') installPackages('tools', say);
  await mkdir(folder, { recursive: true });
  pinThisProcess(CLIENT_CORE);
  const stack = await startStack(say, signal);
  const results: StoryResult[] = [];
  try {
    for (const run of recording.runs) {
      const result = await runStory(singlePod(run.pod), phases, {
        ...stack,
        sockets,
        writerCount,
        isPerUser: values['per-user'],
        ahead: recording.isIdle ? 1 : undefined,
        signal,
        onSample: (sample) => say(sampleLine(sample)),
        onPhase: async (phase, pod) => run.onPhase?.(phase, pod),
        onDrained: async (pod) => run.onDrained?.(pod),
      });
      results.push(result);
    }
  } finally {
    await stack.stop();
  }
  process.stdout.write(`\n${await recording.finish(results)}`);
  const faults = results.flatMap((result) => result.faults);
  for (const fault of faults) say(`profile: ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
}

async function createRecording(kind: string | undefined, folder: string): Promise<Recording> {
  if (kind === 'cpu') return recordCpu(folder);
  if (kind === 'heap') return recordHeap(folder);
  if (kind === 'inline-caches') return recordInlineCaches(folder);
  if (kind !== 'heapdiff')
    throw new Error(`expected cpu, heap, heapdiff or inline-caches, got ${kind ?? 'nothing'}; see --help`);
  const { phase, rungs, before, out } = values;
  if (rungs !== undefined) return recordHeapComparison(folder, await rungPair(rungs), out);
  if (before !== undefined) return recordHeapComparison(folder, settingsPair(before), out);
  if (phase !== 'idle' && phase !== 'flood') throw new Error(`--phase: expected idle or flood, got "${phase}"`);
  return recordHeapDiff(folder, phase);
}

runCommand('profile', main);
