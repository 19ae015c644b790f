import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPackages } from '../packages.ts';
import { startServer } from '../processes/server-process.ts';
import { HeapCounts, compareHeaps } from '../profile/heap-comparison.ts';
import { say } from '../runner/command.ts';
import type { Report } from '../runner/report.ts';
import type { Scope } from '../runner/scope.ts';
import { sum } from '../runner/spread.ts';
import { openIdle } from './idle-sockets.ts';
import type { IdleSocketOptions } from './idle-sockets.ts';

const PROJECTED = 100_000;
/** The watchdog ends a process that stands still for this long; a heap snapshot of many sockets takes a minute. */
const SLOW = { SHUTDOWN_TIMEOUT_MS: '600000' };
/** Constructors of the breakdown; smaller ones are one line. */
const ROWS = 20;

interface Step {
  readonly sockets: number;
  /** Resident memory of the server without V8's young generation, after a collection. */
  readonly residentBytes: number;
}

/**
 * Memory of crier with more and more idle subscriptions: its slope from step to step, and the objects on the heap that a socket adds.
 * @param counts numbers of sockets, rising; a process may have `ulimit -n` of them. One-time costs are those of the first number
 */
export async function measureSteps(
  counts: readonly number[],
  settings: Readonly<Record<string, string>>,
  options: IdleSocketOptions,
  scope: Scope,
): Promise<Report> {
  installPackages('tools', say);
  const folder = await mkdtemp(join(tmpdir(), 'crier-idle-'));
  scope.after(() => rm(folder, { recursive: true }));
  const server = await startServer({ environment: { ...settings, ...SLOW } }, scope);
  const snapshot = async (name: string) => {
    await server.writeHeapSnapshot(join(folder, name));
    return HeapCounts.read(join(folder, name));
  };
  let sockets = 0;
  const steps: Step[] = [];
  let before: HeapCounts | undefined;
  for (const count of counts) {
    await openIdle(server.port, count - sockets, options);
    sockets = count;
    before ??= await snapshot('before.heapsnapshot');
    steps.push({ sockets, residentBytes: await server.keptBytes() });
    say(lineOf(steps.at(-1)!, steps.at(-2)));
  }
  return reportOf(steps, before!, await snapshot('after.heapsnapshot'));
}

function slope(step: Step, before: Step): number {
  return (step.residentBytes - before.residentBytes) / (step.sockets - before.sockets);
}

function lineOf(step: Step, before: Step | undefined): string {
  const each = before ? `, ${slope(step, before).toFixed(0)} bytes each` : '';
  return `${step.sockets} sockets: ${(step.residentBytes / 2 ** 20).toFixed(1)} MB${each}`;
}

function reportOf(steps: readonly Step[], before: HeapCounts, after: HeapCounts): Report {
  const [first, last] = [steps[0]!, steps.at(-1)!];
  const bytesEach = slope(last, first);
  const projectedMb = (first.residentBytes + (PROJECTED - first.sockets) * bytesEach) / 2 ** 20;
  const added = last.sockets - first.sockets;
  const rows = compareHeaps(before, after)
    .slice(0, ROWS)
    .map(({ constructorName, before, after }) => ({
      constructorName,
      objects: (after.objects - before.objects) / added,
      bytes: (after.bytes - before.bytes) / added,
    }));
  const heapBytes = (after.total.bytes - before.total.bytes) / added;
  const cells = (what: string, bytes: number, objects = '') => [what, objects, bytes.toFixed(0)];
  const projection = `${projectedMb.toFixed(0)} MB for ${PROJECTED.toLocaleString('en')} by projection`;
  return {
    intro: `Without the kernel's memory, and without V8's young generation, after a full collection.\n\n${steps
      .map((step, i) => `- ${lineOf(step, steps[i - 1])}`)
      .join('\n')}`,
    sections: [
      {
        table: [
          ['what a socket adds', 'objects', 'bytes'],
          ...rows.map(({ constructorName, objects, bytes }) =>
            cells(`\`${constructorName}\``, bytes, objects.toFixed(2)),
          ),
          cells('other objects', heapBytes - sum(rows.map(({ bytes }) => bytes))),
          cells('on the heap', heapBytes),
          cells('outside of it: libuv, buffers, fragmentation', bytesEach - heapBytes),
          cells('resident memory', bytesEach),
        ],
      },
    ],
    success: `${bytesEach.toFixed(0)} bytes of resident memory for each socket with one subscription, ${projection}.`,
    faults: [],
    data: { measured: steps, bytesEach, projectedMb, heapBytes, rows },
  };
}
