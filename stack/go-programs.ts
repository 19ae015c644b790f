import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** Programs that are built from Go modules. Go verifies them with its checksum database. */
const PACKAGES = {
  helm: 'helm.sh/helm/v3/cmd/helm@v3.22.0',
  kubeconform: 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0',
  'kube-score': 'github.com/zegl/kube-score/cmd/kube-score@v1.20.0',
} as const;

export type GoProgram = keyof typeof PACKAGES;

export const GO_PROGRAMS = Object.keys(PACKAGES) as GoProgram[];

const FOLDER = resolve('.stack', 'go');
/** Of a build with an empty module cache, in ms. */
const TIMEOUT_MS = 40 * 60_000;

/** The path of the program. Builds it first if this version was not built yet; several processes may do so at once. */
export function goProgram(name: GoProgram): Promise<string> {
  const version = PACKAGES[name].split('@')[1]!;
  return builtProgram(name, version, (folder) =>
    runGo(['install', '-ldflags=-s -w', PACKAGES[name]], { GOBIN: folder }),
  );
}

/** The path of a program's version. Without it, `build` writes the program to a folder, under its name. */
export async function builtProgram(
  name: string,
  version: string,
  build: (folder: string) => Promise<unknown>,
): Promise<string> {
  const path = join(FOLDER, `${name}-${version}`);
  if (existsSync(path)) return path;
  process.stderr.write(`Building ${name} ${version} with Go ...\n`);
  await mkdir(FOLDER, { recursive: true });
  const draft = await mkdtemp(join(FOLDER, '.draft-'));
  try {
    await build(draft);
    await rename(join(draft, name), path);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return path;
}

/** The folder with the sources of a Go module, such as `k8s.io/kubernetes@v1.36.3`. */
export async function goModule(module: string): Promise<string> {
  return (JSON.parse(await runGo(['mod', 'download', '-json', module])) as { Dir: string }).Dir;
}

/** Runs Go with low priority and returns its output. @throws Error that says what is missing if there is no Go. */
export async function runGo(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  folder?: string,
): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('nice', ['-n', '15', 'go', ...words], {
      cwd: folder,
      env: { ...process.env, ...environment },
      timeout: TIMEOUT_MS,
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout;
  } catch (error) {
    const { code, stderr, message } = error as { code?: number | string; stderr?: string; message: string };
    // What `nice` exits with if there is no such program.
    if (code === 127) throw new Error('go was not found: install Go 1.26 or later (https://go.dev/doc/install)');
    throw new Error(`failed: go ${words.join(' ')}\n${stderr?.trim() || message}`, { cause: error });
  }
}
