import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const FILES = {
  'graphiql.js': 'graphiql/graphiql.min.js',
  'graphiql.css': 'graphiql/graphiql.min.css',
  'graphiql.LICENSE': 'graphiql/LICENSE',
  'react.js': 'react/umd/react.production.min.js',
  'react-dom.js': 'react-dom/umd/react-dom.production.min.js',
  'graphql-ws.js': 'graphql-ws/umd/graphql-ws.min.js',
};

/**
 * Step of the build: copies GraphiQL and its dependencies from node_modules into the folder of the page, and adds a gzipped copy of each
 * file there. Plain JS, because it runs before anything is compiled.
 * @param {string} folder
 */
export async function copyGraphiql(folder) {
  await mkdir(folder, { recursive: true });
  for (const [name, source] of Object.entries(FILES)) {
    const content = await readFile(join('node_modules', source)).catch((error) => {
      throw new Error(`GraphiQL cannot be built: node_modules/${source} is missing; run npm ci`, { cause: error });
    });
    await writeFile(join(folder, name), content);
  }
  for (const name of await readdir(folder)) {
    if (name.endsWith('.gz')) continue;
    await writeFile(
      join(folder, `${name}.gz`),
      await promisify(gzip)(await readFile(join(folder, name)), { level: 9 }),
    );
  }
}
