import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { filesOfPage } from './page-files.ts';

/**
 * Imports a module that a page shows, with the others of the page beside it.
 * @param parent a folder below which the packages that it imports are found. Default: where this project's are
 */
export async function importFromPage<Exports>(page: string, name: string, parent = 'dist'): Promise<Exports> {
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(resolve(parent), 'page-'));
  try {
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    for (const [file, text] of filesOfPage(page)) if (file.endsWith('.js')) await writeFile(join(folder, file), text);
    return (await import(pathToFileURL(join(folder, name)).href)) as Exports;
  } finally {
    await rm(folder, { recursive: true });
  }
}
