import { readdir, rm, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';

/**
 * `node scripts/prune-modules.js <node_modules>` removes files that Node never loads: the image needs no types, source maps, pages, tests,
 * examples or benchmarks of packages. Licences stay. Plain JS, because it runs in the image's build, without the tests' packages.
 */

/** Node does not load TypeScript below node_modules; the others are for tools, readers and tests. */
const UNUSED_FILE = /\.(?:[cm]?ts|map|md|markdown|flow|coffee|test\.[cm]?js)$/;
const LICENCE = /^(?:licen[cs]e|notice|copying)/i;
/** Only at the top of a package: deeper, a package's code may have such a folder. */
const UNUSED_FOLDERS = new Set([
  ...['test', 'tests', '__tests__', 'spec', 'fixtures', 'benchmark', 'benchmarks', 'bench'],
  ...['example', 'examples', 'docs', '.github', '.vscode'],
]);
const UNUSED_OF_PACKAGES = [
  // What Browserslist reads for queries by feature or by region only; Babel's configuration targets a version of Node.
  /^caniuse-lite\/data\/(?:features|regions)$/,
  // Copies of build/src for bundlers.
  /^@opentelemetry\/[^/]+\/build\/(?:esm|esnext)$/,
  // Names that OpenTelemetry may still change. Only imports of the package's `/incubating` need them.
  /^@opentelemetry\/semantic-conventions\/dist\/(?:experimental_|index-incubating)[^/]*$/,
];

/**
 * Removes from the packages in a node_modules folder or a scope, and from those nested in them.
 * @param {string} folder
 * @param {string} modules
 */
async function prunePackages(folder, modules = folder) {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isDirectory() || entry.name === '.bin') continue;
    const path = join(folder, entry.name);
    if (entry.name.startsWith('@')) await prunePackages(path, modules);
    else await pruneFolder(path, modules, true);
  }
}

/** @param {string} folder @param {string} modules @param {boolean} isPackage */
async function pruneFolder(folder, modules, isPackage) {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const name = relative(modules, path);
    if (UNUSED_OF_PACKAGES.some((pattern) => pattern.test(name))) {
      await rm(path, { recursive: true });
    } else if (entry.isDirectory()) {
      if (isPackage && UNUSED_FOLDERS.has(entry.name)) await rm(path, { recursive: true });
      else if (entry.name === 'node_modules') await prunePackages(path);
      else await pruneFolder(path, modules, false);
    } else if (UNUSED_FILE.test(entry.name) && !LICENCE.test(entry.name)) {
      await rm(path);
    }
  }
}

/** Bytes of all files in a folder. @param {string} folder */
async function sizeOf(folder) {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

const [modules] = process.argv.slice(2);
if (!modules) throw new Error('expected the path of a node_modules folder');
const before = await sizeOf(modules);
await prunePackages(modules);
const megabytes = [before, await sizeOf(modules)].map((size) => (size / 2 ** 20).toFixed(1));
process.stdout.write(`${modules}: ${megabytes.join(' MiB, pruned to ')} MiB\n`);
