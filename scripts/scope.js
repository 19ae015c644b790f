import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

/** `@crier/client`, also in a pattern; `npm create @crier`; a folder '@crier'; archives, whose names have the scope without @. */
const PACKAGES = String.raw`(?:server|client|create|babel-plugin-proxy-lazy)\b`;

/** @param {string} file */
function scopeOf(file) {
  /** @type {unknown} */
  const parsed = JSON.parse(readFileSync(file, 'utf8'));
  const { name } = /** @type {{ name: string }} */ (parsed);
  return name.slice(0, name.indexOf('/'));
}

/*
 * `npm run scope`: writes the scope of the name in package.json wherever another package, a page, a message or a test names the scope of crier's
 * packages. The scope before is that of client/package.json. Plain JS, because it needs nothing that is compiled.
 */
const former = scopeOf('client/package.json');
const scope = scopeOf('package.json');
const scopes = new RegExp(
  String.raw`${former}(?=\\?/${PACKAGES})|(?<=\bnpm (?:create|init) )${former}\b|(?<=')${former}(?=')`,
  'g',
);
const archives = new RegExp(String.raw`\b${former.slice(1)}(?=-${PACKAGES}(?:-\d|'))`, 'g');
for (const file of execFileSync('git', ['grep', '-Il', former.slice(1)], { encoding: 'utf8' })
  .trimEnd()
  .split('\n')) {
  const text = readFileSync(file, 'utf8');
  const renamed = text.replaceAll(scopes, scope).replaceAll(archives, scope.slice(1));
  if (renamed !== text) writeFileSync(file, renamed);
}
process.stdout.write(`The packages are ${scope}/server and others. npm install links them.\n`);
