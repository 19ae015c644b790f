import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { goProgram } from '../go-programs.ts';

export const CHART = join('deploy', 'helm', 'crier');
/** The version that the chart is rendered for and checked against. Helm from source takes itself for one of Kubernetes 1.20. */
export const KUBERNETES_VERSION = '1.36.3';

export interface Release {
  readonly name: string;
  readonly namespace: string;
  /** Name of a file in the chart's examples. */
  readonly example: string;
  /** What `--set-json` takes. */
  readonly values?: Readonly<Record<string, unknown>>;
}

/** The manifests of a release, as `helm template` prints them. @throws Error with Helm's message for values that are refused. */
export async function renderChart(release: Release): Promise<string> {
  const version = ['--kube-version', KUBERNETES_VERSION];
  const { stdout } = await runHelm(['template', release.name, ...flagsOf(release), ...version]);
  return stdout;
}

/** @throws Error with every finding. */
export async function lintChart(release: Release): Promise<void> {
  await runHelm(['lint', '--strict', '--kube-version', KUBERNETES_VERSION, ...flagsOf(release)]);
}

function flagsOf({ namespace, example, values = {} }: Release): string[] {
  const sets = Object.entries(values).flatMap(([path, value]) => ['--set-json', `${path}=${JSON.stringify(value)}`]);
  const file = join(CHART, 'examples', `${example}.yaml`);
  return [CHART, '--namespace', namespace, '--values', file, ...sets];
}

async function runHelm(words: readonly string[]): Promise<{ stdout: string }> {
  const helm = await goProgram('helm');
  return promisify(execFile)(helm, words, { maxBuffer: 16 * 1024 * 1024 }).catch(
    (error: Error & { stdout: string }) => {
      throw new Error(`${error.message}\n${error.stdout}`, { cause: error });
    },
  );
}
