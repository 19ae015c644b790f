import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const FILES = ['context.ts', 'context.mts'];
/** A list without a type of its own: TypeScript makes it `string[]`. */
const WIDENED = /^export const backends\s*=\s*\[[^\]]*\](?!\s*as\s+const\b)/m;

/** What to write in a graph's context module so that the types know the names of its backends; undefined: they do, or there are none. */
export async function unknownNamesHint(folder: string): Promise<string | undefined> {
  const file = FILES.find((name) => existsSync(join(folder, name)));
  if (file === undefined || !WIDENED.test(await readFile(join(folder, file), 'utf8'))) return undefined;
  return `${file}: the types do not know the names of backends; write export const backends = [ … ] as const`;
}
