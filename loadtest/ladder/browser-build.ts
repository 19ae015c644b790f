import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { transformFileAsync } from '@babel/core';

const SOURCES = join('loadtest', 'ladder', 'pod');
/** Beside dist/loadtest/ladder/pod, so that relative imports lead to the same files. */
const FOLDER = join('dist', 'loadtest', 'ladder', 'pod-browser');

/**
 * Compiles the pod as the talk's first build did, with Babel's settings for browsers: ES5, in which `async`, spread, classes and
 * `for of` are calls of helper functions. Two assumptions: the target is Internet Explorer 11, which needs all of these helpers, and
 * packages are not compiled, as usual for a server's bundle.
 */
export async function buildForBrowsers(): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  for (const name of await readdir(SOURCES)) {
    const compiled = await transformFileAsync(join(SOURCES, name), {
      configFile: false,
      presets: [
        ['@babel/preset-env', { targets: { ie: '11' }, modules: false }],
        ['@babel/preset-typescript', { onlyRemoveTypeImports: true, rewriteImportExtensions: true }],
      ],
      plugins: ['./plugins/babel-plugin-proxy-lazy/index.js'],
    });
    await writeFile(join(FOLDER, name.replace(/\.ts$/, '.js')), compiled?.code ?? '');
  }
}
