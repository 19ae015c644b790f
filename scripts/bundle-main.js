import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { rolldown } from 'rolldown';

/** Beside the modules; one level deep, because the URLs of modules are written relative to it. */
const CHUNKS = 'bundle';
const MAIN = 'main.js';

/**
 * Step of the build: bundles crier's own modules into the chunks that a pod loads, because loading 400 modules takes most of a start. A chunk
 * has what is needed together: what is imported dynamically is in chunks of its own. main.js then imports its chunk. Packages stay as they
 * are, and so do the modules themselves, for the library, the processes that crier starts, and the built-in graph. Plain JS, because it runs
 * before anything is compiled.
 * @param {string} folder of the compiled modules, where main.js is
 */
export async function bundleMain(folder) {
  const bundle = await rolldown({
    input: join(folder, MAIN),
    platform: 'node',
    external: /^[^./]/,
    treeshake: false,
    plugins: [compiledModules(resolve(folder))],
  });
  await bundle.write({
    dir: join(folder, CHUNKS),
    format: 'esm',
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
  });
  await bundle.close();
  await writeFile(join(folder, MAIN), `#!/usr/bin/env node\nexport * from './${CHUNKS}/${MAIN}';\n`);
}

/**
 * Reads modules with Babel's source maps. `import.meta` stays that of the module: files beside it are found from it.
 * @param {string} folder
 * @returns {import('rolldown').Plugin}
 */
function compiledModules(folder) {
  return {
    name: 'compiled-modules',
    async load(id) {
      const [text, map] = await Promise.all([readFile(id, 'utf8'), readFile(`${id}.map`, 'utf8')]);
      const path = join('..', relative(folder, id));
      const code = text
        .replaceAll('import.meta.url', `new URL(${JSON.stringify(path)}, import.meta.url).href`)
        .replaceAll('import.meta.dirname', `(import.meta.dirname + ${JSON.stringify(`/${dirname(path)}`)})`);
      /** @type {unknown} */
      const parsed = JSON.parse(map);
      const { sources, ...rest } = /** @type {{ sources: string[], mappings: string }} */ (parsed);
      return { code, map: { ...rest, sources: sources.map((source) => resolve(dirname(id), source)) } };
    },
  };
}
