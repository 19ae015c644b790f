import { decode, encode } from '@jridgewell/sourcemap-codec';
import { chmod, readFile, readdir, writeFile } from 'node:fs/promises';
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
  for (const name of await readdir(join(folder, CHUNKS))) {
    if (name.endsWith('.map')) await thinMap(join(folder, CHUNKS, name));
  }
  await writeFile(join(folder, MAIN), `#!/usr/bin/env node\nexport * from './${CHUNKS}/${MAIN}';\n`);
  // npx makes the command of a checkout executable once, when it first links it, and not that of a later build.
  await chmod(join(folder, MAIN), 0o755);
}

/**
 * Leaves one place for each line of a source map, and no sources, which are beside it. Node reads the map of a chunk when it loads the chunk,
 * and decodes it, which blocks, when a stack trace first names the chunk: that of the gateway took 130 ms, and takes 20.
 * @param {string} file
 */
async function thinMap(file) {
  /** @type {unknown} */
  const parsed = JSON.parse(await readFile(file, 'utf8'));
  const map = /** @type {{ mappings: string, sources: string[] }} */ (parsed);
  /** @type {import('@jridgewell/sourcemap-codec').SourceMapLine[]} */
  const lines = decode(map.mappings).map((places) => {
    for (const place of places) if (place.length > 1) return [[place[0], place[1] ?? 0, place[2] ?? 0, place[3] ?? 0]];
    return [];
  });
  await writeFile(file, JSON.stringify({ version: 3, sources: map.sources, names: [], mappings: encode(lines) }));
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
