import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { baseVersion, imageBase } from './image-base.ts';
import { runProgram } from './programs.ts';

const run = promisify(execFile);

/** Images of this checkout; the machine's own stay as they are. */
const STORE = ['--root', resolve('.stack', 'image', 'store'), '--runroot', resolve('.stack', 'image', 'run')];
const BASE = 'localhost/node-base';
const NAME = 'localhost/crier';

/** The host's certificates and npm's settings, with which `npm ci` reaches the registry as it does outside. */
const HOST_FILES = [
  ['/etc/ssl/certs/ca-certificates.crt', '/etc/ssl/certs/ca-certificates.crt'],
  ['/usr/etc/npmrc', '/usr/local/etc/npmrc'],
  [join(homedir(), '.npmrc'), '/root/.npmrc'],
] as const;

/** What a container takes from its image. */
export interface ImageConfig {
  readonly command: readonly string[];
  readonly environment: readonly string[];
  readonly folder: string;
  /** `10001:10001` */
  readonly user: string;
  readonly healthCheck: readonly string[];
}

interface DockerConfig {
  readonly Cmd: string[];
  readonly Env: string[];
  readonly WorkingDir: string;
  readonly User: string;
  readonly Healthcheck: { readonly Test: ['CMD', ...string[]] };
}

/** The image of this checkout, built by buildah from the Dockerfile as it is. Only the base differs (`imageBase`). */
export class Image {
  readonly config: ImageConfig;
  readonly #container: string;

  private constructor(config: ImageConfig, container: string) {
    this.config = config;
    this.#container = container;
  }

  static async build(revision: string): Promise<Image> {
    const base = await buildah('from', 'scratch');
    await buildah('copy', '--quiet', base, await imageBase(await baseVersion()), '/');
    await buildah('commit', '--quiet', '--rm', base, BASE);
    const files: string[] = [];
    for (const [from, to] of HOST_FILES) {
      if (existsSync(from)) files.push('--volume', `${from}:${to}:ro`);
    }
    // The health check is part of Docker's format only.
    const format = ['--format', 'docker', '--runtime', 'runc', '--network', 'host', ...files];
    const values = ['--build-arg', `NODE_IMAGE=${BASE}`, '--build-arg', `REVISION=${revision}`];
    await runProgram('buildah', [...STORE, 'build', '--quiet', ...format, ...values, '--tag', NAME, '.']);
    const container = await buildah('from', NAME);
    const { Docker } = JSON.parse(await buildah('inspect', container)) as { Docker: { config: DockerConfig } };
    const { Cmd, Env, WorkingDir, User, Healthcheck } = Docker.config;
    const [, ...healthCheck] = Healthcheck.Test;
    return new Image({ command: Cmd, environment: Env, folder: WorkingDir, user: User, healthCheck }, container);
  }

  /** Mounts the image's file system. @returns its path */
  mount(): Promise<string> {
    return buildah('mount', this.#container);
  }

  async remove(): Promise<void> {
    await buildah('rm', this.#container);
    await buildah('rmi', NAME, BASE);
  }
}

async function buildah(...words: string[]): Promise<string> {
  const { stdout } = await run('buildah', [...STORE, ...words]);
  return stdout.trim();
}
