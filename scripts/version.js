import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/*
 * `npm version <version>` runs this after it has written package.json, and before it commits and tags: the other packages, their dependencies on
 * each other, the lockfile, the chart, its manifests and the pages have the version, and "Unreleased" of each changelog becomes its section.
 * Plain JS, because it needs nothing that is compiled.
 */

/** Where the version stands in a text. */
const TEXTS = [
  'deploy/helm/crier/Chart.yaml',
  'deploy/kubernetes/all.yaml',
  'deploy/kubernetes/roles.yaml',
  'docs/learn/start.md',
  'docs/operate/kubernetes.md',
  'docs/operate/versions.md',
];

/** @typedef {{ name: string, version: string, dependencies?: Record<string, string>, link?: boolean, resolved?: string }} Manifest */

/** @param {string} file @returns {unknown} */
function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** @param {string} file @param {unknown} value */
function writeJson(file, value) {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

const { version } = /** @type {Manifest} */ (readJson('package.json'));
const lock = /** @type {{ version: string, packages: Record<string, Manifest> }} */ (readJson('package-lock.json'));
const folders = Object.values(lock.packages).flatMap(({ link, resolved }) => (link && resolved ? [resolved] : []));
const files = ['package.json', ...folders.map((folder) => join(folder, 'package.json'))];
const former = /** @type {Manifest} */ (readJson('client/package.json')).version;
const own = new Set(files.map((file) => /** @type {Manifest} */ (readJson(file)).name));

/** @param {Manifest} manifest */
function setVersion(manifest) {
  manifest.version = version;
  for (const name of Object.keys(manifest.dependencies ?? {}))
    if (own.has(name)) /** @type {Record<string, string>} */ (manifest.dependencies)[name] = version;
  return manifest;
}

for (const file of files) writeJson(file, setVersion(/** @type {Manifest} */ (readJson(file))));
lock.version = version;
for (const folder of ['', ...folders]) setVersion(/** @type {Manifest} */ (lock.packages[folder]));
writeJson('package-lock.json', lock);

const whole = new RegExp(String.raw`(?<![\d.])${former.replaceAll('.', String.raw`\.`)}(?!\.?\d)`, 'g');
for (const file of TEXTS) writeFileSync(file, readFileSync(file, 'utf8').replace(whole, version));

const date = new Date().toISOString().slice(0, 10);
for (const file of files.map((path) => join(dirname(path), 'CHANGELOG.md'))) {
  const text = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    text.replace(/^## Unreleased$/m, () => `## ${version} - ${date}`),
  );
}

// Another length of the version moves the columns of tables.
const pages = TEXTS.filter((file) => file.endsWith('.md'));
execFileSync(process.execPath, [join('node_modules', 'prettier', 'bin', 'prettier.cjs'), '--write', ...pages]);
// The commit of `npm version`, which refuses to begin with changed files.
execFileSync('git', ['add', '--update']);
