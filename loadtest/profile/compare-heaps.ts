import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { conditionsOf } from '../fanout/conditions.ts';
import { buildForBrowsers } from '../ladder/browser-build.ts';
import { rungs } from '../ladder/rungs.ts';
import { RESULTS_FOLDER } from '../result-files.ts';
import { whole } from '../story/report/figure-text.ts';
import { crierPod } from '../story/pods/pod.ts';
import type { Pod } from '../story/pods/pod.ts';
import { markdownTable } from '../table.ts';
import type { Cells } from '../table.ts';
import { HeapCounts, compareHeaps, totalOf } from './heap-comparison.ts';
import type { HeapCount } from './heap-comparison.ts';
import { visitHeapSnapshot } from './heap-snapshot.ts';
import type { Recording } from './recording.ts';

const ROWS = 20;

/** Two pods that differ in one thing. */
export interface PodPair {
  readonly before: Pod;
  readonly after: Pod;
}

/** Two rungs of the ladder by name, separated by a comma. @throws Error listing the names. */
export async function rungPair(names: string): Promise<PodPair> {
  const pods = names.split(',').map((name) => rungs.find((rung) => rung.name === name)?.pod);
  const [before, after] = pods;
  if (pods.length !== 2 || !before || !after) {
    const known = rungs.filter(({ pod }) => pod).map(({ name }) => name);
    throw new Error(`--rungs: expected two of ${known.join(', ')}, got "${names}"`);
  }
  await buildForBrowsers();
  return { before, after };
}

/** crier with settings such as `AST_LOCATIONS=on,DOCUMENT_CACHE_ENTRIES=0`, and with its defaults. @throws Error for another form. */
export function settingsPair(settings: string): PodPair {
  const entries = settings.split(',').map((setting) => setting.split('='));
  if (!entries.every((entry) => entry.length === 2)) {
    throw new Error(`--before: expected NAME=value,..., got "${settings}"`);
  }
  const environment = { ...crierPod.environment, ...(Object.fromEntries(entries) as Record<string, string>) };
  return {
    before: {
      ...crierPod,
      name: 'crier-before',
      title: `crier, ${entries.map((e) => e.join('=')).join(' ')}`,
      environment,
    },
    after: { ...crierPod, title: 'crier, default settings' },
  };
}

/** A snapshot of each pod when every socket is live and has received a message, and the difference by constructor. */
export function recordHeapComparison(folder: string, { before, after }: PodPair, name: string): Recording {
  const paths = [join(folder, 'before.heapsnapshot'), join(folder, 'after.heapsnapshot')] as const;
  return {
    isIdle: true,
    runs: [before, after].map((pod, i) => ({
      pod,
      onPhase: async (phase, process) => void (phase === 'flood' && (await process.writeHeapSnapshot(paths[i]!))),
    })),
    finish: async (results) => {
      const heaps = [await countsOf(paths[0]), await countsOf(paths[1])] as const;
      const { date, node, cpu } = conditionsOf([]);
      const path = join(RESULTS_FOLDER, `${name}.md`);
      const text = `# Heap of two pods: ${before.title}; ${after.title}

\`npm run profile -- ${process.argv.slice(2).join(' ')}\`: ${whole(results[0]!.sockets)} sockets with one subscription each, each pod after one
record, snapshot after a full collection. ${date}, Node ${node}, ${cpu}. Before: ${before.title}. After: ${after.title}.

${comparisonTable(...heaps)}
The ${ROWS} constructors with the largest difference in bytes. Bytes are those of the objects themselves, without what they refer to.
`;
      await mkdir(RESULTS_FOLDER, { recursive: true });
      await writeFile(path, text);
      return `${text}\n${path}\n${paths.join('\n')} (for DevTools: Memory, Load profile)\n`;
    },
  };
}

async function countsOf(path: string): Promise<HeapCounts> {
  const counts = new HeapCounts();
  await visitHeapSnapshot(path, (node) => counts.add(node));
  return counts;
}

export function comparisonTable(before: ReadonlyMap<string, HeapCount>, after: ReadonlyMap<string, HeapCount>): string {
  const cells = (name: string, before: HeapCount, after: HeapCount): Cells => [
    name.length > 40 ? `${name.slice(0, 39)}…` : name,
    whole(before.objects),
    whole(after.objects),
    signed(after.objects - before.objects),
    whole(before.bytes),
    whole(after.bytes),
    signed(after.bytes - before.bytes),
  ];
  return markdownTable([
    ['constructor', '# before', '# after', '# delta', 'bytes before', 'bytes after', 'bytes delta'],
    ...compareHeaps(before, after)
      .slice(0, ROWS)
      .map((row) => cells(`\`${row.constructorName}\``, row.before, row.after)),
    cells('whole heap', totalOf(before), totalOf(after)),
  ]);
}

function signed(value: number): string {
  return `${value > 0 ? '+' : ''}${whole(value)}`;
}
