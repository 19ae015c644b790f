import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePorts } from '../../stack/port.ts';
import { conditionsOf } from '../fanout/conditions.ts';
import { startServerProcess } from '../processes/server-process.ts';
import type { ServerProcess } from '../processes/server-process.ts';
import { HeapCounts, compareHeaps, totalOf } from '../profile/heap-comparison.ts';
import { visitHeapSnapshot } from '../profile/heap-snapshot.ts';
import { installPackages } from '../packages.ts';
import { writeResult } from '../result-files.ts';
import { markdownTable } from '../table.ts';
import { openMany } from './idle-sockets.ts';
import type { IdleSocketOptions } from './idle-sockets.ts';

/** Sockets before the measured ones: one-time costs do not count. */
const FIRST_SOCKETS = 1000;
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
 * Memory of crier with more and more idle subscriptions: its slope from step to step, and the objects on the heap that a socket adds. Writes
 * `<name>.md` and `<name>.json`.
 * @param steps numbers of sockets, rising; a process may have `ulimit -n` of them
 */
export async function measureSteps(
  steps: readonly number[],
  settings: Readonly<Record<string, string>>,
  socketsOf: (port: number) => IdleSocketOptions,
  name: string,
): Promise<void> {
  installPackages('tools', (line) => process.stderr.write(`${line}\n`));
  const [port, adminPort] = await freePorts(2);
  const folder = await mkdtemp(join(tmpdir(), 'crier-idle-'));
  const script = resolve(import.meta.dirname, '../../src/main.js');
  const server = await startServerProcess(script, port!, { ADMIN_PORT: String(adminPort), ...settings, ...SLOW });
  try {
    const sockets = await openMany(FIRST_SOCKETS, socketsOf(port!));
    const before = await countsOf(server, join(folder, 'before.heapsnapshot'));
    const measured: Step[] = [{ sockets: sockets.length, residentBytes: await server.keptBytes() }];
    for (const step of steps) {
      sockets.push(...(await openMany(step - sockets.length, socketsOf(port!))));
      measured.push({ sockets: sockets.length, residentBytes: await server.keptBytes() });
      process.stdout.write(`${lineOf(measured.at(-1)!, measured.at(-2)!)}\n`);
    }
    const after = await countsOf(server, join(folder, 'after.heapsnapshot'));
    await report(name, measured, before, after);
    for (const socket of sockets) socket.terminate();
  } finally {
    await server.stop();
    await rm(folder, { recursive: true });
  }
}

async function countsOf(server: ServerProcess, path: string): Promise<HeapCounts> {
  await server.writeHeapSnapshot(path);
  const counts = new HeapCounts();
  await visitHeapSnapshot(path, (node) => counts.add(node));
  return counts;
}

function slope(step: Step, before: Step): number {
  return (step.residentBytes - before.residentBytes) / (step.sockets - before.sockets);
}

function lineOf(step: Step, before: Step): string {
  return `${step.sockets} sockets: ${(step.residentBytes / 2 ** 20).toFixed(1)} MB, ${slope(step, before).toFixed(0)} bytes each`;
}

async function report(name: string, measured: readonly Step[], before: HeapCounts, after: HeapCounts): Promise<void> {
  const [first, last] = [measured[0]!, measured.at(-1)!];
  const bytesEach = slope(last, first);
  const projectedMb = (first.residentBytes + (PROJECTED - first.sockets) * bytesEach) / 2 ** 20;
  const added = last.sockets - first.sockets;
  const rows = compareHeaps(before, after).map(({ constructorName, before, after }) => ({
    constructorName,
    objects: (after.objects - before.objects) / added,
    bytes: (after.bytes - before.bytes) / added,
  }));
  const heapBytes = (totalOf(after).bytes - totalOf(before).bytes) / added;
  const listed = rows.slice(0, ROWS);
  const others = heapBytes - listed.reduce((sum, { bytes }) => sum + bytes, 0);
  const cells = (what: string, objects: string, bytes: number) => [what, objects, bytes.toFixed(0)];
  const table = markdownTable([
    ['what a socket adds', 'objects', 'bytes'],
    ...listed.map(({ constructorName, objects, bytes }) => cells(`\`${constructorName}\``, objects.toFixed(2), bytes)),
    cells('other objects', '', others),
    cells('on the heap', '', heapBytes),
    cells('outside of it: libuv, buffers, fragmentation', '', bytesEach - heapBytes),
    cells('resident memory', '', bytesEach),
  ]);
  const { date, node, cpu } = conditionsOf([]);
  const flags = process.argv.slice(2).join(' ');
  const summary = `${bytesEach.toFixed(0)} bytes of resident memory for each socket with one subscription, ${projectedMb.toFixed(0)} MB for ${PROJECTED.toLocaleString('en')} by projection`;
  const md = `# Memory of idle subscriptions

\`npm run bench:idle -- ${flags}\`, ${date}, Node ${String(node)}, ${String(cpu)}: ${summary}. Without the kernel's memory, and
without V8's young generation, after a full collection.

${measured
  .slice(1)
  .map((step, i) => `- ${lineOf(step, measured[i]!)}`)
  .join('\n')}

${table}`;
  const result = { flags, conditions: conditionsOf([]), measured, bytesEach, projectedMb, heapBytes, rows: listed };
  const paths = await writeResult(name, result, { md });
  process.stdout.write(`${summary}; ${paths.join(' ')}\n`);
}
