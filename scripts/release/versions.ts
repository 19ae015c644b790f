import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { Lock, Package } from './packages.ts';
import { refuse } from './release.ts';
import type { Release } from './release.ts';

const CHART = 'deploy/helm/crier/Chart.yaml';

interface Chart {
  readonly version: string;
  readonly appVersion: string;
}

/** One version everywhere: of the packages, of what they ask of each other, of the lockfile and of the chart. */
export async function versions({ packages, lock, version }: Release): Promise<string> {
  const chart = parse(await readFile(CHART, 'utf8')) as Chart;
  refuse(versionProblems(packages, lock, chart));
  return `${version} in ${packages.length} packages, their dependencies, the lockfile and the chart`;
}

export function versionProblems(packages: readonly Package[], lock: Lock, chart: Chart): string[] {
  const wanted = packages[0]!.manifest.version;
  const own = new Set(packages.map(({ manifest }) => manifest.name));
  const found = packages.flatMap(({ folder, manifest }): [where: string, version: string | undefined][] => {
    const locked = lock.packages[folder === '.' ? '' : folder];
    const asked = { ...manifest.peerDependencies, ...manifest.dependencies };
    return [
      [`${folder}/package.json`, manifest.version],
      [`package-lock.json, of ${manifest.name}`, locked?.version],
      ...rangesOf(`${folder}/package.json`, asked, own),
      ...rangesOf(`package-lock.json, of ${manifest.name}`, locked?.dependencies, own),
    ];
  });
  found.push([`${CHART}, version`, chart.version], [`${CHART}, appVersion`, chart.appVersion]);
  return found
    .filter(([, version]) => version !== wanted)
    .map(
      ([where, version]) =>
        `${where}: ${version}, not ${wanted}; \`npm version ${wanted} --allow-same-version\` writes it`,
    );
}

function rangesOf(
  where: string,
  asked: Readonly<Record<string, string>> = {},
  own: ReadonlySet<string>,
): [where: string, version: string][] {
  return Object.entries(asked)
    .filter(([name]) => own.has(name))
    .map(([name, range]) => [`${where}, its dependency ${name}`, range]);
}
