import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from '../../stack/port.ts';
import { startService } from '../../stack/service.ts';
import { archiveName } from './packages.ts';
import { RELEASE_FOLDER } from './release.ts';
import type { Release } from './release.ts';
import { toolPath } from './tools.ts';

/** It has crier's packages only, and asks no other registry for them: a package that is not published here is not found. */
function configuration(folder: string, scope: string): string {
  return `storage: ${JSON.stringify(join(folder, 'storage'))}
packages:
  '${scope}/*': { access: $all, publish: $all }
max_body_size: 100mb
web: { enable: false }
log: { type: stdout, format: pretty, level: warn }
`;
}

/** Starts a registry on loopback and publishes every archive in it. */
export async function registry(release: Release): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'crier-registry-'));
  release.after(() => rm(folder, { recursive: true, force: true }));
  const config = join(folder, 'config.yaml');
  await writeFile(config, configuration(folder, release.scope));
  const [port] = await freePorts(1);
  release.registry = `http://127.0.0.1:${port}/`;
  const service = await startService({
    name: 'the local registry',
    command: process.execPath,
    arguments: [toolPath('verdaccio'), '--config', config, '--listen', `127.0.0.1:${port}`],
    fix: 'install Node.js',
    isReady: () =>
      fetch(`${release.registry}-/ping`).then(
        ({ ok }) => ok,
        () => false,
      ),
    timeoutMs: 60_000,
  });
  release.after(() => service.stop());
  for (const { manifest } of release.packages) {
    const archive = join(RELEASE_FOLDER, archiveName(manifest));
    // npm publishes nothing without a token, and this registry takes any. No forge builds here, which could attest anything.
    const words = ['publish', archive, '--registry', release.registry, '--provenance=false'];
    await promisify(execFile)('npm', words, {
      env: { ...process.env, [`npm_config_//127.0.0.1:${port}/:_authToken`]: 'local' },
    });
  }
  return `${release.packages.length} packages at ${release.registry}`;
}
