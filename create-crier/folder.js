import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Writes files into a folder that is empty or does not exist.
 * @param {string} folder
 * @param {Readonly<Record<string, string>>} files texts by path
 * @throws {Error} if there is anything in it but a repository of git
 */
export async function createFolder(folder, files) {
  await mkdir(folder, { recursive: true });
  const entries = (await readdir(folder)).filter((name) => name !== '.git');
  if (entries.length > 0)
    throw new Error(`${folder} is not empty (it has ${entries[0]}); name a folder that is empty or new`);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text, { flag: 'wx' });
  }
}
