import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SetupError } from '../../base/errors.ts';

/**
 * Writes files into a folder, which is made if it does not exist. Replaces none.
 * @param files texts by name
 * @throws SetupError naming the files that exist; then none is written
 */
export async function writeGraphFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  refuseExisting(folder, Object.keys(files));
  try {
    await mkdir(folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { flag: 'wx' });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isFile = code === 'EEXIST' || code === 'ENOTDIR';
    const what = isFile ? 'is a file, or within one; name a folder' : `cannot be written: ${message}`;
    throw new SetupError(`${folder} ${what}`, { cause: error });
  }
}

/** @throws SetupError naming the files that exist */
export function refuseExisting(folder: string, names: readonly string[]): void {
  const existing = names.map((name) => join(folder, name)).filter((path) => existsSync(path));
  if (existing.length === 0) return;
  throw new SetupError(`${existing.join(', ')}: exists, and is not replaced; choose another folder, or remove it`);
}
