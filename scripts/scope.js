import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** `@crier/client`, also in a pattern; `npm create @crier`; a folder '@crier'; archives, whose names have the scope without @. */
const PACKAGES = String.raw`(?:server|client|create|babel-plugin-proxy-lazy)\b`;

/** @typedef {{ name?: string, repository?: object }} Manifest */

/** @param {string} file */
function manifestOf(file) {
  /** @type {unknown} */
  const parsed = JSON.parse(readFileSync(file, 'utf8'));
  return /** @type {Manifest} */ (parsed);
}

/** @param {Manifest} manifest */
function scopeOf({ name = '' }) {
  return name.slice(0, name.indexOf('/'));
}

/** The files that git lists. @param {string[]} words */
function filesOf(...words) {
  return execFileSync('git', words, { encoding: 'utf8' }).trimEnd().split('\n');
}

/*
 * `npm run scope`: writes the scope of the name in package.json wherever another package, a page, a message or a test names the scope of crier's
 * packages, and the repository in package.json into the other packages. The scope before is that of client/package.json. Plain JS, because it
 * needs nothing that is compiled.
 */
const former = scopeOf(manifestOf('client/package.json'));
const { repository, ...server } = manifestOf('package.json');
const scope = scopeOf(server);
const scopes = new RegExp(
  String.raw`${former}(?=\\?/${PACKAGES})|(?<=\bnpm (?:create|init) )${former}\b|(?<=')${former}(?=')`,
  'g',
);
const archives = new RegExp(String.raw`\b${former.slice(1)}(?=-${PACKAGES}(?:-\d|'))`, 'g');
for (const file of filesOf('grep', '-Il', former.slice(1))) {
  const text = readFileSync(file, 'utf8');
  const renamed = text.replaceAll(scopes, scope).replaceAll(archives, scope.slice(1));
  if (renamed !== text) writeFileSync(file, renamed);
}
for (const file of filesOf('ls-files', '*/package.json')) {
  const manifest = manifestOf(file);
  if (scopeOf(manifest) !== scope) continue;
  const own = repository && { ...repository, directory: dirname(file) };
  writeFileSync(file, `${JSON.stringify({ ...manifest, repository: own }, null, 2)}\n`);
}
process.stdout.write(`The packages are ${scope}/server and others. npm install links them.\n`);
