import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { rolldown } from 'rolldown';

/** Scripts of the pages. Each may load others, which are written beside it. */
const SCRIPTS = {
  'graphiql/graphiql.js': 'pages/graphiql/graphiql.js',
  'graphiql/editor.worker.js': 'node_modules/monaco-editor/esm/vs/editor/editor.worker.js',
  'graphiql/json.worker.js': 'node_modules/monaco-editor/esm/vs/language/json/json.worker.js',
  'graphiql/graphql.worker.js': 'node_modules/monaco-graphql/esm/graphql.worker.js',
  'live/live.js': 'pages/live/live.ts',
};

/** Files that are taken as they are. */
const FILES = {
  'graphiql/graphiql.css': 'node_modules/graphiql/dist/style.css',
  'graphiql/page.css': 'pages/graphiql/page.css',
  'live/live.css': 'pages/live/live.css',
};

/**
 * Step of the build: writes the scripts and styles of the pages into a folder, gzipped, and the licences of the packages that are bundled.
 * Plain JS, because it runs before anything is compiled.
 * @param {string} folder
 */
export async function bundlePages(folder) {
  /** @type {Set<string>} */
  const packages = new Set();
  for (const [name, source] of Object.entries(SCRIPTS)) {
    for (const { fileName, code, moduleIds } of await bundled(source, basename(name))) {
      await put(folder, join(dirname(name), fileName), code);
      for (const path of moduleIds) packages.add(packageOf(path));
    }
  }
  for (const [name, source] of Object.entries(FILES)) await put(folder, name, await readFile(source));
  packages.delete('');
  await put(folder, 'graphiql/LICENSES.txt', await licencesOf([...packages].sort()));
}

/** A script, and those that it loads when it needs them. @param {string} source @param {string} name */
async function bundled(source, name) {
  const bundle = await rolldown({
    input: source,
    platform: 'browser',
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    // Packages import their styles, which graphiql.css has.
    moduleTypes: { '.css': 'empty', '.ttf': 'empty' },
    onLog: (level, log, handle) => {
      // Directives such as "use client" mean nothing here.
      if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handle(level, log);
    },
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true, entryFileNames: name });
  await bundle.close();
  return output.flatMap((file) => (file.type === 'chunk' ? [file] : []));
}

/** The folder of the package that a module belongs to; '' for crier's own. @param {string} path */
function packageOf(path) {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? '';
}

/** @param {string[]} folders */
async function licencesOf(folders) {
  const texts = await Promise.all(
    folders.map(async (folder) => {
      /** @type {unknown} */
      const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
      const { name, version, license } = /** @type {Record<string, string>} */ (manifest);
      const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
      const text = file ? await readFile(join(folder, file), 'utf8') : '';
      return `${name} ${version} (${license})\n\n${text.trim()}\n`;
    }),
  );
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

/** @param {string} folder @param {string} name @param {string | Buffer} content */
async function put(folder, name, content) {
  const path = join(folder, `${name}.gz`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, await promisify(gzip)(content, { level: 9 }));
}
