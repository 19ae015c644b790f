import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { RELEASE_FOLDER, refuse } from './release.ts';
import type { Release } from './release.ts';

const MEND = 'run `npm install`';

export interface Bill {
  readonly bomFormat: string;
  readonly components: readonly {
    /** `@crier/client@0.1.0` */
    readonly 'bom-ref': string;
    readonly licenses?: readonly object[];
    readonly hashes?: readonly object[];
  }[];
}

/** The bill of materials of what is installed with crier lies beside the archives of a release. */
export async function bill({ packages }: Release): Promise<string> {
  const { stdout } = await promisify(execFile)('npm', ['run', '-s', 'sbom'], { maxBuffer: 64 * 1024 * 1024 });
  const parsed = JSON.parse(stdout) as Bill;
  const dependencies = packages[0]!.manifest.dependencies ?? {};
  refuse(billProblems(parsed, dependencies, new Set(packages.map(({ manifest }) => manifest.name))));
  await mkdir(RELEASE_FOLDER, { recursive: true });
  const file = join(RELEASE_FOLDER, 'crier.cdx.json');
  await writeFile(file, stdout);
  return `${parsed.components.length} components in ${file}`;
}

/** @param own names of this repository's packages, which npm links and hashes only when they are packed */
export function billProblems(
  { bomFormat, components }: Bill,
  dependencies: Readonly<Record<string, string>>,
  own: ReadonlySet<string>,
): string[] {
  const listed = new Set(components.map((component) => component['bom-ref']));
  const problems = Object.entries(dependencies)
    .map(([name, version]) => `${name}@${version}`)
    .filter((dependency) => !listed.has(dependency))
    .map((dependency) => `${dependency} is absent: ${MEND}`);
  if (bomFormat !== 'CycloneDX') problems.push(`bomFormat: expected CycloneDX, got ${bomFormat}`);
  for (const { 'bom-ref': ref, licenses = [], hashes = [] } of components) {
    if (licenses.length === 0) problems.push(`${ref} has no licence: ${MEND}`);
    if (hashes.length === 0 && !own.has(ref.slice(0, ref.lastIndexOf('@'))))
      problems.push(`${ref} has no hash: ${MEND}`);
  }
  return problems;
}
