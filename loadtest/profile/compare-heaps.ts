import { buildForBrowsers } from '../ladder/browser-build.ts';
import { rungs } from '../ladder/rungs.ts';
import type { Cells } from '../runner/table.ts';
import { crierPod } from '../story/pods/pod.ts';
import type { Pod } from '../story/pods/pod.ts';
import { whole } from '../story/report/tables.ts';
import { compareHeaps } from './heap-comparison.ts';
import type { HeapCount, HeapCounts } from './heap-comparison.ts';

const ROWS = 20;

/** Two rungs of the ladder by name, separated by a comma. @throws Error listing the names. */
export async function rungPair(names: string): Promise<Pod[]> {
  const pods = names.split(',').flatMap((name) => rungs.find((rung) => rung.name === name)?.pod ?? []);
  if (pods.length !== 2 || names.split(',').length !== 2) {
    const known = rungs.filter(({ pod }) => pod).map(({ name }) => name);
    throw new Error(`--rungs: expected two of ${known.join(', ')}, got "${names}"`);
  }
  await buildForBrowsers();
  return pods;
}

/** crier with settings such as `DISABLE=compact-ast,document-cache APQ=true`, and with its defaults. @throws Error for another form. */
export function settingsPair(settings: string): Pod[] {
  const entries = settings.split(' ').map((setting) => setting.split('='));
  if (!entries.every((entry) => entry.length === 2)) {
    throw new Error(`--before: expected NAME=value ..., got "${settings}"`);
  }
  const environment = { ...crierPod.environment, ...(Object.fromEntries(entries) as Record<string, string>) };
  const title = `crier, ${entries.map((entry) => entry.join('=')).join(' ')}`;
  return [
    { ...crierPod, name: 'crier-before', title, environment },
    { ...crierPod, title: 'crier, default settings' },
  ];
}

/** The constructors with the largest difference in bytes. Bytes are those of the objects themselves, without what they refer to. */
export function comparisonTable(before: HeapCounts, after: HeapCounts): Cells[] {
  const signed = (value: number) => `${value > 0 ? '+' : ''}${whole(value)}`;
  const cells = (name: string, before: HeapCount, after: HeapCount): Cells => [
    name.length > 40 ? `${name.slice(0, 39)}…` : name,
    ...[whole(before.objects), whole(after.objects), signed(after.objects - before.objects)],
    ...[whole(before.bytes), whole(after.bytes), signed(after.bytes - before.bytes)],
  ];
  return [
    ['constructor', '# before', '# after', '# delta', 'bytes before', 'bytes after', 'bytes delta'],
    ...compareHeaps(before, after)
      .slice(0, ROWS)
      .map((row) => cells(`\`${row.constructorName}\``, row.before, row.after)),
    cells('whole heap', before.total, after.total),
  ];
}
