import { readFile, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const SUFFIX = '.test.js';

/** Tests that start many whole pods and commands, each of which takes a second or two of CPU. */
export const PODS = [
  'ops/check',
  'tools',
  'end-to-end',
  'examples',
  'ops/metrics/every-metric.test.ts',
  'mistakes.test.ts',
  'reload',
];
/** What neither `npm test` nor `npm run test:pods` runs: it takes minutes, builds programs or installs packages. */
export const NAMED_ONLY = [
  'faults',
  'loadtest',
  'deploy',
  'kubernetes',
  'packages',
  'routers',
  'clients',
  'proxies',
  'pages',
  'cdc',
  'container',
  'site',
];

/** `bus` for `test/bus/`, `kafka/decoding/record` for `test/kafka/decoding/record.test.ts`. */
export function testName(name: string): string {
  return name.replace(/^test\//, '').replace(/(\.test\.ts|\/)$/, '');
}

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
    const clean = testName(name);
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

/** Those of these test files that import, themselves or by other modules under `root`, a module of which `isWanted` is true. */
export async function filesThatImport(
  root: string,
  files: readonly string[],
  isWanted: (module: string) => boolean,
): Promise<string[]> {
  const imports = new Map<string, string[]>();
  const found: string[] = [];
  for (const file of files) {
    const modules = new Set([file]);
    for (const module of modules) {
      if (!module.startsWith(`${root}/`)) continue;
      if (!imports.has(module)) imports.set(module, await importsOf(module));
      for (const imported of imports.get(module)!) modules.add(imported);
    }
    if ([...modules].some(isWanted)) found.push(file);
  }
  return found;
}

/**
 * Absolute paths of relative imports and exports, and the names of others. Not of `import()`. A text in a test may look like an import.
 */
async function importsOf(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return Array.from(text.matchAll(/^(?:import|export) (?:[^'"]*from )?['"]([^'"]+)['"];$/gm), ([, name]) =>
    name!.startsWith('.') ? join(dirname(file), name!) : name!,
  );
}
