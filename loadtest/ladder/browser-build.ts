import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { transformFileAsync } from '@babel/core';

const SOURCES = join('loadtest', 'ladder', 'pod');
/** Beside dist/loadtest/ladder/pod, so that relative imports lead to the same files. */
const FOLDER = join('dist', 'loadtest', 'ladder', 'pod-browser');

/**
 * Compiles the pod as the talk's first build did, with Babel's settings for browsers: ES5, so that `async`, spread, classes and `for
 * of` become helpers. Which browsers is a guess (Internet Explorer 11, which asks for all of it), and so is that packages were not
 * compiled: bundles for servers leave them out as a rule.
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
