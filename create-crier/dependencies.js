import { existsSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

/** In a clone of crier this is the folder above. */
const CLONE = join(import.meta.dirname, '..');
/** Where `npm run archives` of a clone packs crier's packages. */
const ARCHIVES = join(CLONE, 'dist', 'release');

/** The graphql of the project: one copy for its graph and for crier. Without it npm installs 17 where Node is 22 or later. */
const GRAPHQL = '^16.15.0';

/**
 * @typedef {object} Source
 * @property {Readonly<Record<string, string>>} dependencies of the project
 * @property {string | undefined} unpacked the clone that must pack its packages before they can be installed
 */

/**
 * What a project depends on: crier of the registry. Made by a clone of crier, a project depends on the archives of that clone, whose version
 * may not be published.
 * @param {string} folder of the project
 * @returns {Source}
 */
export function dependenciesOf(folder) {
  const { name, version } = manifestIn(import.meta.dirname);
  const [scope = ''] = name.split('/');
  const server = `${scope}/server`;
  if (!existsSync(join(CLONE, 'package.json')) || manifestIn(CLONE).name !== server)
    return { dependencies: { crier: `npm:${server}@^${version}`, graphql: GRAPHQL }, unpacked: undefined };
  /** @param {string} packed name of a package */
  const archiveOf = (packed) => join(ARCHIVES, `${packed.slice(1).replace('/', '-')}-${version}.tgz`);
  /** @type {Record<string, string>} */
  const dependencies = {};
  let isPacked = true;
  // The server depends on the others, which npm would look for in the registry.
  for (const packed of [server, `${scope}/client`, `${scope}/babel-plugin-proxy-lazy`]) {
    dependencies[packed === server ? 'crier' : packed] = `file:${relative(resolve(folder), archiveOf(packed))}`;
    isPacked &&= existsSync(archiveOf(packed));
  }
  dependencies['graphql'] = GRAPHQL;
  return { dependencies, unpacked: isPacked ? undefined : relative('', CLONE) || '.' };
}

/** @param {string} folder */
function manifestIn(folder) {
  /** @type {unknown} */
  const parsed = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return /** @type {{ name: string, version: string }} */ (parsed);
}
