import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

const SUFFIX = '.test.js';

/**
 * The compiled test files under `root`, sorted. `wanted` and `unwanted` name folders or files as they stand in test/
 * (`bus`, `kafka/decoding/record`); none wanted means all.
 * @throws Error for a name that selects nothing.
 */
export async function selectTestFiles(
  root: string,
  wanted: readonly string[],
  unwanted: readonly string[],
): Promise<string[]> {
  const files = (await readdir(root, { recursive: true })).filter((file) => file.endsWith(SUFFIX)).sort();
  const matches = (file: string, name: string) => {
    const clean = name.replace(/^test\//, '').replace(/(\.test\.ts|\/)$/, '');
    return file === clean + SUFFIX || file.startsWith(`${clean}/`);
  };
  for (const name of [...wanted, ...unwanted]) {
    if (files.some((file) => matches(file, name))) continue;
    const folders = new Set(files.map((file) => file.split('/', 1)[0]));
    throw new Error(`no tests in test/${name}; there are ${[...folders].join(', ')}`);
  }
  return files
    .filter((file) => wanted.length === 0 || wanted.some((name) => matches(file, name)))
    .filter((file) => !unwanted.some((name) => matches(file, name)))
    .map((file) => join(root, file));
}
