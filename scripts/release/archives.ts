import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { archiveName } from './packages.ts';
import { RELEASE_FOLDER } from './release.ts';
import type { Release } from './release.ts';

/** Builds and packs each package once: the later steps check, install and publish these files. */
export async function archives({ packages }: Release): Promise<string> {
  await promisify(execFile)('npm', ['run', 'archives'], { maxBuffer: 64 * 1024 * 1024 });
  const sizes = await Promise.all(
    packages.map(async ({ manifest }) => {
      const { size } = await stat(join(RELEASE_FOLDER, archiveName(manifest)));
      return `${archiveName(manifest)} ${Math.ceil(size / 1024)} KB`;
    }),
  );
  return sizes.join(', ');
}
