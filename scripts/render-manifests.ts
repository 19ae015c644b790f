import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderChart } from '../stack/kubernetes/chart.ts';

/** The examples of the chart that deploy/kubernetes has rendered. */
export const RENDERED = ['roles', 'all'] as const;

/** The text of deploy/kubernetes/<example>.yaml. */
export async function manifestOf(example: (typeof RENDERED)[number]): Promise<string> {
  const manifest = await renderChart({ name: 'crier', namespace: 'crier', example });
  return `# Rendered from the chart deploy/helm/crier with examples/${example}.yaml: npm run deploy:manifests\n${manifest}`;
}

export function manifestPath(example: string): string {
  return join('deploy', 'kubernetes', `${example}.yaml`);
}

/** Writes deploy/kubernetes. */
export async function writeManifests(): Promise<void> {
  for (const example of RENDERED) await writeFile(manifestPath(example), await manifestOf(example));
}
