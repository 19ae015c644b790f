import { isUtf8 } from 'node:buffer';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { didYouMean } from '../../base/did-you-mean.ts';
import { GraphError } from '../../base/errors.ts';
import { isSdlFile, unreadSchemaFiles } from './module-files.ts';

const SCHEMA_FILE = 'schema.graphql';

/** What an editor, or PowerShell's `>`, may have written. */
export const NOT_UTF8 = 'is not UTF-8; save it as UTF-8 (PowerShell: Out-File -Encoding utf8, in place of >)';

/** Code in which other servers have their SDL. */
const SCHEMA_MODULE = /^(?:schema|type-?defs?)\.[cm]?[jt]s$/i;

/**
 * The text of a graph folder's schema.graphql.
 * @param setting what names the folder, for the error
 * @throws GraphError if the folder or the file is absent, or cannot be read as text
 */
export async function readSchemaFile(folder: string, setting = 'GRAPH'): Promise<string> {
  const bytes = await readFile(join(folder, SCHEMA_FILE)).catch(async (error: NodeJS.ErrnoException) => {
    throw new GraphError(await problemOf(resolve(folder), error.code, setting));
  });
  // UTF-16 has zero bytes.
  if (!isUtf8(bytes) || bytes.includes(0)) throw new GraphError(`${SCHEMA_FILE}: ${NOT_UTF8}`);
  return bytes.toString('utf8');
}

async function problemOf(folder: string, code: string | undefined, setting: string): Promise<string> {
  const schema = join(folder, SCHEMA_FILE);
  if (code === 'EISDIR') return `${schema}: is a folder; it must be a file with the schema`;
  if (code !== 'ENOENT' && code !== 'ENOTDIR') return `${schema}: cannot be read (${code})`;
  const entries = await readdir(folder).catch(() => undefined);
  const fix = `; set ${setting} to a folder that has a ${SCHEMA_FILE}`;
  if (!entries && existsSync(folder)) return `${folder}: is a file; name its folder, ${dirname(folder)}`;
  if (!entries) {
    const near = didYouMean(basename(folder), await graphFolders(dirname(folder)));
    return `${folder}: no such folder${near || fix}`;
  }
  const [inside] = await graphFolders(folder);
  const [unread = inside === undefined ? entries.sort().find(isSdlFile) : undefined] = await unreadSchemaFiles(folder);
  if (unread !== undefined) return `${schema}: not found, but ${unread} is there; rename it to ${SCHEMA_FILE}`;
  if (inside !== undefined) return `${schema}: not found; did you mean the folder ${join(folder, inside)}?`;
  const module = entries.find((entry) => SCHEMA_MODULE.test(entry));
  return `${schema}: not found${module === undefined ? fix : `, but ${module} is there; write the SDL that it has into ${SCHEMA_FILE}`}`;
}

/** Names of the folders of graphs in a folder. */
async function graphFolders(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => !entry.isFile() && existsSync(join(folder, entry.name, SCHEMA_FILE)))
    .map(({ name }) => name);
}
