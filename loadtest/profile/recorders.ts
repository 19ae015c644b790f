import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { whole } from '../story/report/figure-text.ts';
import { crierPod } from '../story/pods/pod.ts';
import { textTable } from '../story/report/tables.ts';
import { bytesDelta, diffHeaps } from './heap-diff.ts';
import type { ConstructorChange } from './heap-diff.ts';
import { readHeapSnapshot } from './heap-snapshot.ts';
import { floodProfile } from './recording.ts';
import type { Recording } from './recording.ts';

const run = promisify(execFile);
const ROWS = 25;

/** A flame graph of the flood. */
export function recordCpu(folder: string): Recording {
  const profile = join(folder, 'flood.cpuprofile');
  const html = join(folder, 'flame-graph.html');
  return {
    runs: [{ pod: crierPod, ...floodProfile(profile) }],
    finish: async () => {
      const flags = ['--silent', '--visualize-cpu-profile', profile, '--output-html', html];
      await run(process.execPath, ['loadtest/node_modules/0x/cmd.js', ...flags]);
      return `${html} (open it: xdg-open ${html})\n${profile} (for DevTools: Performance, or speedscope)\n`;
    },
  };
}

/** One snapshot, taken when the flood's last record has reached every socket and before the sockets close. */
export function recordHeap(folder: string): Recording {
  const snapshot = join(folder, 'after-flood.heapsnapshot');
  return {
    runs: [{ pod: crierPod, onDrained: (pod) => pod.writeHeapSnapshot(snapshot) }],
    finish: () => Promise.resolve(`${snapshot} (for DevTools: Memory, Load profile)\n`),
  };
}

/** Two snapshots: before and after the sockets connect, or before and after the flood. */
export function recordHeapDiff(folder: string, phase: 'idle' | 'flood'): Recording {
  const before = join(folder, `before-${phase}.heapsnapshot`);
  const after = join(folder, `after-${phase}.heapsnapshot`);
  return {
    runs: [
      {
        pod: crierPod,
        onPhase: async (entered, pod) => {
          if (entered === phase) await pod.writeHeapSnapshot(before);
          if (entered === 'flood' && phase === 'idle') await pod.writeHeapSnapshot(after);
        },
        onDrained: async (pod) => {
          if (phase === 'flood') await pod.writeHeapSnapshot(after);
        },
      },
    ],
    finish: async () => {
      const changes = diffHeaps(await readHeapSnapshot(before), await readHeapSnapshot(after));
      return `${diffTable(changes, phase)}\n${before}\n${after} (for DevTools: Memory, Load profile, Comparison)\n`;
    },
  };
}

export function diffTable(changes: readonly ConstructorChange[], phase: string): string {
  const cells = ({ constructorName, added, deleted, addedBytes, deletedBytes }: ConstructorChange) => [
    constructorName.length > 40 ? `${constructorName.slice(0, 39)}…` : constructorName,
    whole(added),
    whole(deleted),
    signed(added - deleted),
    signed(addedBytes - deletedBytes),
  ];
  const shown = changes.slice(0, ROWS);
  const total = changes.reduce((sum, change) => sum + bytesDelta(change), 0);
  return `${textTable({
    title: `Heap, from before to after ${phase === 'idle' ? 'the sockets connected' : 'the flood'}`,
    head: ['constructor', '# new', '# deleted', '# delta', 'size delta, bytes'],
    rows: shown.map(cells),
  })}${shown.length} of ${changes.length} constructors, largest first; all together ${signed(total)} bytes\n`;
}

function signed(value: number): string {
  return `${value > 0 ? '+' : ''}${whole(value)}`;
}
