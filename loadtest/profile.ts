import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCommand, say } from './command.ts';
import { numberFlag } from './number-flag.ts';
import { installPackages } from './packages.ts';
import { CLIENT_CORE, pinThisProcess } from './processes/pinning.ts';
import { cpuRecorder, heapDiffRecorder, heapRecorder } from './profile/recorders.ts';
import type { Recorder } from './profile/recorders.ts';
import { crierPod } from './story/pods/pod.ts';
import { runStory } from './story/run.ts';
import { sampleLine } from './story/report/sample-line.ts';
import { startStack } from './story/stack.ts';
import { singlePod } from './story/pods/pod-set.ts';

const USAGE = `Profiles a crier pod during the story (npm run loadtest), to find the next bottleneck.

Usage: npm run profile -- cpu|heap|heapdiff [flags]

  cpu       a flame graph of the flood (HTML) and its .cpuprofile
  heap      a heap snapshot after the flood, with the sockets open
  heapdiff  heap snapshots before and after a phase, and their difference by constructor

  --phase <idle|flood>  for heapdiff: growth while the sockets connect, or during the flood; default: flood
  --sockets <number>    default: 4000
  --bare, --idle, --flood <seconds>  default: 3, 5, 15
  --concurrency <number>  kcat processes; default: 3
  --help

Writes into loadtest/profiles/. A profiled pod is slower; for figures use npm run loadtest. cpu and heapdiff install
loadtest/package.json (0x and @memlab/core) when they first run.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    phase: { type: 'string', default: 'flood' },
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
  const recorder = createRecorder(kind, folder);
  const phases = {
    bareSeconds: numberFlag('bare', values.bare),
    idleSeconds: numberFlag('idle', values.idle),
    floodSeconds: numberFlag('flood', values.flood),
  };
  const sockets = numberFlag('sockets', values.sockets);
  const writerCount = numberFlag('concurrency', values.concurrency);
  if (kind !== 'heap') installPackages('tools', say);
  await mkdir(folder, { recursive: true });
  pinThisProcess(CLIENT_CORE);
  const stack = await startStack(say, signal);
  let faults: readonly string[];
  try {
    ({ faults } = await runStory(singlePod(crierPod), phases, {
      ...stack,
      sockets,
      writerCount,
      signal,
      onSample: (sample) => say(sampleLine(sample)),
      onPhase: async (phase, pod) => recorder.onPhase?.(phase, pod),
      onDrained: async (pod) => recorder.onDrained?.(pod),
    }));
  } finally {
    await stack.stop();
  }
  process.stdout.write(`\n${await recorder.finish()}`);
  for (const fault of faults) say(`profile: ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
}

function createRecorder(kind: string | undefined, folder: string): Recorder {
  if (kind === 'cpu') return cpuRecorder(folder);
  if (kind === 'heap') return heapRecorder(folder);
  if (kind !== 'heapdiff') throw new Error(`expected cpu, heap or heapdiff, got ${kind ?? 'nothing'}; see --help`);
  const { phase } = values;
  if (phase !== 'idle' && phase !== 'flood') throw new Error(`--phase: expected idle or flood, got "${phase}"`);
  return heapDiffRecorder(folder, phase);
}

runCommand('profile', main);
