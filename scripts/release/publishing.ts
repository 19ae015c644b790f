import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { archiveName } from './packages.ts';
import type { Package } from './packages.ts';
import { RELEASE_FOLDER } from './release.ts';
import type { Release } from './release.ts';

const run = promisify(execFile);

/** Publishes the archives with provenance. A release that was interrupted goes on with those that the registry does not have. */
export async function publishing({ isDryRun, packages }: Release): Promise<string> {
  if (isDryRun) return 'a dry run publishes nothing';
  const published: string[] = [];
  for (const { manifest } of inOrder(packages)) {
    const name = `${manifest.name}@${manifest.version}`;
    if (await isPublished(name)) continue;
    await run('npm', ['publish', join(RELEASE_FOLDER, archiveName(manifest))]);
    published.push(name);
  }
  return published.join(', ') || 'all were published before';
}

/** What the server depends on, the server, and what makes projects that depend on it. */
export function inOrder(packages: readonly Package[]): Package[] {
  const [server] = packages as [Package, ...Package[]];
  const needed = packages.filter(({ manifest }) => manifest.name in (server.manifest.dependencies ?? {}));
  return [...new Set([...needed, ...packages])];
}

/** @throws Error if the registry does not answer */
async function isPublished(name: string): Promise<boolean> {
  return run('npm', ['view', name, 'version']).then(
    ({ stdout }) => stdout.trim() !== '',
    (error: Error & { stderr: string }) => {
      if (error.stderr.includes('E404')) return false;
      throw error;
    },
  );
}
