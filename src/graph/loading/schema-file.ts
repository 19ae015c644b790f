import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { GraphError } from '../../base/errors.ts';
import { unreadSchemaFiles } from './module-files.ts';

/**
 * The text of a graph folder's schema.graphql.
 * @param setting what names the folder, for the error
 * @throws GraphError if the folder or the file is absent or cannot be read
 */
export function readSchemaFile(folder: string, setting = 'GRAPH'): Promise<string> {
  return readFile(join(folder, 'schema.graphql'), 'utf8').catch(async (error: NodeJS.ErrnoException) => {
    throw new GraphError(await problemOf(resolve(folder), error.code, setting));
  });
}

async function problemOf(folder: string, code: string | undefined, setting: string): Promise<string> {
  const schema = join(folder, 'schema.graphql');
  if (code !== 'ENOENT' && code !== 'ENOTDIR') return `${schema}: cannot be read (${code})`;
  const files = await unreadSchemaFiles(folder).catch(() => undefined);
  if (!files) return `${folder}: no such folder; set ${setting} to a folder that has a schema.graphql`;
  const [file] = files;
  if (file !== undefined) return `${schema}: not found, but ${file} is there; rename it to schema.graphql`;
  return `${schema}: not found; set ${setting} to a folder that has a schema.graphql`;
}
