import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { didYouMean } from '../../base/did-you-mean.ts';
import { GraphError } from '../../base/errors.ts';
import { unreadSchemaFiles } from './module-files.ts';

const SCHEMA_FILE = 'schema.graphql';

/**
 * The text of a graph folder's schema.graphql.
 * @param setting what names the folder, for the error
 * @throws GraphError if the folder or the file is absent or cannot be read
 */
export function readSchemaFile(folder: string, setting = 'GRAPH'): Promise<string> {
  return readFile(join(folder, SCHEMA_FILE), 'utf8').catch(async (error: NodeJS.ErrnoException) => {
    throw new GraphError(await problemOf(resolve(folder), error.code, setting));
  });
}

async function problemOf(folder: string, code: string | undefined, setting: string): Promise<string> {
  const schema = join(folder, SCHEMA_FILE);
  if (code !== 'ENOENT' && code !== 'ENOTDIR') return `${schema}: cannot be read (${code})`;
  const files = await unreadSchemaFiles(folder).catch(() => undefined);
  const fix = `; set ${setting} to a folder that has a ${SCHEMA_FILE}`;
  if (!files) {
    const near = didYouMean(basename(folder), await graphFolders(dirname(folder)));
    return `${folder}: no such folder${near || fix}`;
  }
  const [file] = files;
  if (file !== undefined) return `${schema}: not found, but ${file} is there; rename it to ${SCHEMA_FILE}`;
  const [inside] = await graphFolders(folder);
  return `${schema}: not found${inside === undefined ? fix : `; did you mean the folder ${join(folder, inside)}?`}`;
}

/** Names of the folders of graphs in a folder. */
async function graphFolders(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => !entry.isFile() && existsSync(join(folder, entry.name, SCHEMA_FILE)))
    .map(({ name }) => name);
}
