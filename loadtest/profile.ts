import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installPackages } from './packages.ts';
import type { ServerProcess } from './processes/server-process.ts';
import { comparisonTable, rungPair, settingsPair } from './profile/compare-heaps.ts';
import { HeapCounts } from './profile/heap-comparison.ts';
import { choice, on, optional, text, whole } from './runner/flags.ts';
import { defineScenario } from './runner/scenario.ts';
import { singlePod } from './story/pods/pod-set.ts';
import { crierPod } from './story/pods/pod.ts';
import type { Pod } from './story/pods/pod.ts';
import { sampleLine } from './story/report/tables.ts';
import type { PhaseName } from './story/result.ts';
import { runStory } from './story/run.ts';
import { startStack } from './story/stack.ts';

const KINDS = ['cpu', 'heap', 'heapdiff'] as const;

/** A run of the story in which the pod is profiled. */
interface RecordedRun {
  readonly pod: Pod;
  /** `drained`: the last record has reached every socket, and the sockets are still open. */
  readonly on: (at: PhaseName | 'drained', pod: ServerProcess) => Promise<void> | false;
}

export const scenario = defineScenario({
  name: 'profile',
  command: 'profile -- <cpu|heap|heapdiff>',
  question: `Profiles a crier pod during the story (npm run loadtest), to find the next bottleneck.

  cpu       a flame graph of the flood (HTML) and its .cpuprofile
  heap      a heap snapshot after the flood, with the sockets open
  heapdiff  heap snapshots before and after a phase, and their difference by constructor`,
  flags: {
    kind: choice('what to record', KINDS),
    phase: choice(
      'for heapdiff: growth while the sockets connect, or during the flood',
      ['idle', 'flood'] as const,
      'flood',
    ),
    rungs: optional(
      text('for heapdiff, <before>,<after>: two rungs of the ladder, idle, instead of one pod at two times', ''),
    ),
    before: optional(text('for heapdiff, NAME=value ...: crier with these settings and with its defaults, idle', '')),
    'per-user': on('every socket has a result of its own'),
    sockets: whole('sockets', 4000),
    bare: whole('seconds without sockets', 3),
    idle: whole('seconds with idle sockets', 5),
    flood: whole('seconds of the flood', 15),
    concurrency: whole('kcat processes', 3),
  },
  out: 'trial-heap',
  notes: `Writes into loadtest/profiles/. A profiled pod is slower; for figures use npm run loadtest. cpu and heapdiff install
loadtest/package.json (0x and @memlab/core) when they first run. Pods inherit the environment: DISABLE=sharing npm run profile -- cpu.`,
  run: async ({ flags, scope, signal, say }) => {
    const { kind, sockets, concurrency: writerCount } = flags;
    const folder = join('loadtest', 'profiles', `${kind}-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}`);
    const profile = join(folder, 'flood.cpuprofile');
    const snapshots = ['before', 'after'].map((name) => join(folder, `${name}.heapsnapshot`)) as [string, string];
    const pair =
      (flags.rungs !== undefined && (await rungPair(flags.rungs))) ||
      (flags.before !== undefined && settingsPair(flags.before));
    const runs = runsOf(kind, flags.phase, pair || undefined, profile, snapshots);
    if (kind !== 'heap') installPackages('tools', say);
    await mkdir(folder, { recursive: true });
    // The watchdog ends a pod that stands still for this long, as one that writes a snapshot of many sockets.
    process.env['SHUTDOWN_TIMEOUT_MS'] ??= '600000';
    const stack = await startStack(scope, say);
    const phases = { bareSeconds: flags.bare, idleSeconds: flags.idle, floodSeconds: pair ? 1 : flags.flood };
    const faults: string[] = [];
    for (const { pod, on } of runs) {
      const options = {
        ...{ ...stack, sockets, writerCount, isPerUser: flags['per-user'], signal },
        // At rest one record at a time is enough.
        ahead: pair ? 1 : undefined,
        onSample: (sample: Parameters<typeof sampleLine>[0]) => say(sampleLine(sample)),
        onPhase: async (phase: PhaseName, server: ServerProcess) => void (await on(phase, server)),
        onDrained: async (server: ServerProcess) => void (await on('drained', server)),
      };
      faults.push(...(await runStory(singlePod(pod), phases, options, scope)).faults);
    }
    if (kind === 'heapdiff') {
      const table = comparisonTable(await HeapCounts.read(snapshots[0]), await HeapCounts.read(snapshots[1]));
      const intro = `${sockets} sockets with one subscription each. Before and after: ${pair ? pair.map(({ title }) => title).join('; ') : `the phase ${flags.phase}`}. Snapshots after a full collection: ${snapshots.join(', ')} (for DevTools: Memory, Load profile).`;
      return { intro, sections: [{ table }], success: 'Every record reached every socket.', faults, data: { sockets } };
    }
    if (kind === 'cpu') {
      const html = join(folder, 'flame-graph.html');
      const words = ['--silent', '--visualize-cpu-profile', profile, '--output-html', html];
      await promisify(execFile)(process.execPath, ['loadtest/node_modules/0x/cmd.js', ...words]);
      process.stdout.write(
        `${html} (open it: xdg-open ${html})\n${profile} (for DevTools: Performance, or speedscope)\n`,
      );
    } else process.stdout.write(`${snapshots[1]} (for DevTools: Memory, Load profile)\n`);
    for (const fault of faults) say(`profile: ${fault}`);
    if (faults.length > 0) process.exitCode = 1;
    return undefined;
  },
});

function runsOf(
  kind: (typeof KINDS)[number],
  phase: 'idle' | 'flood',
  pair: readonly Pod[] | undefined,
  profile: string,
  [before, after]: readonly [string, string],
): RecordedRun[] {
  if (pair) {
    // When every socket is live and has received a message.
    return pair.map((pod, i) => ({
      pod,
      on: (at, server) => at === 'flood' && server.writeHeapSnapshot([before, after][i]!),
    }));
  }
  const on: RecordedRun['on'] = (at, server) => {
    if (kind === 'cpu' && at === 'flood') return server.startCpuProfile();
    if (kind === 'cpu' && at === 'drain') return server.stopCpuProfile(profile);
    if (kind === 'heapdiff' && at === phase) return server.writeHeapSnapshot(before);
    const end = kind === 'heapdiff' && phase === 'idle' ? 'flood' : 'drained';
    return kind !== 'cpu' && at === end && server.writeHeapSnapshot(after);
  };
  return [{ pod: crierPod, on }];
}
