import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { ImageConfig } from './image.ts';

const run = promisify(execFile);

/** The state of runc's containers. */
const STATE = ['--root', resolve('.stack', 'image', 'runc')];

/** What Kubernetes mounts, as the chart asks for it: only /tmp can be written. */
const MOUNTS = [
  { destination: '/proc', type: 'proc', source: 'proc' },
  {
    destination: '/dev',
    type: 'tmpfs',
    source: 'tmpfs',
    options: ['nosuid', 'strictatime', 'mode=755', 'size=65536k'],
  },
  { destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', 'size=64m'] },
];

/** A container as the chart runs it: a root file system that cannot be written, the image's user, no capability. The network is the host's. */
export class Container {
  readonly id = `crier-${randomUUID()}`;
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** @param root path of the image's file system */
  static async create(
    image: ImageConfig,
    root: string,
    settings: Readonly<Record<string, string>>,
  ): Promise<Container> {
    const folder = await mkdtemp(join(tmpdir(), 'crier-container-'));
    const [uid, gid] = image.user.split(':').map(Number);
    const specification = {
      ociVersion: '1.0.2',
      root: { path: root, readonly: true },
      process: {
        user: { uid, gid },
        args: image.command,
        env: [...image.environment, ...Object.entries(settings).map(([name, value]) => `${name}=${value}`)],
        cwd: image.folder,
        capabilities: {},
        noNewPrivileges: true,
      },
      mounts: MOUNTS,
      linux: { namespaces: ['pid', 'mount', 'ipc', 'uts'].map((type) => ({ type })) },
    };
    await writeFile(join(folder, 'config.json'), JSON.stringify(specification));
    await mkdir(STATE[1]!, { recursive: true });
    return new Container(folder);
  }

  /** Runs it in the foreground: signals of the process are the container's, and so is its exit code. */
  get command(): readonly string[] {
    return ['runc', ...STATE, 'run', '--bundle', this.#folder, this.id];
  }

  /** Runs a command in the container. @throws Error if it fails, with its output */
  async run(words: readonly string[]): Promise<string> {
    const { stdout } = await run('runc', [...STATE, 'exec', this.id, ...words]);
    return stdout;
  }

  async remove(): Promise<void> {
    await run('runc', [...STATE, 'delete', '--force', this.id]).catch(() => undefined);
    await rm(this.#folder, { recursive: true, force: true });
  }
}
