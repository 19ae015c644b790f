import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

/**
 * `npm run update:dependencies`: installs the newest version of each dependency in its major line (of 0.x: minor line), then runs the gate.
 * `-- --dry-run` only lists them.
 */
const run = promisify(execFile);
const FLAGS = /** @type {const} */ ({ dependencies: '--save-prod', devDependencies: '--save-dev' });
const isDryRun = process.argv.includes('--dry-run');

/**
 * Returns the newest version that `^pinned` allows, without previews.
 * @param {string} name
 * @param {string} pinned
 */
async function newestOf(name, pinned) {
  const { stdout } = await run('npm', ['view', `${name}@^${pinned}`, 'version', '--json']);
  /** @type {unknown} */
  const versions = JSON.parse(stdout);
  return /** @type {string} */ ([versions].flat().at(-1) ?? pinned);
}

/** @param {string} command @param {readonly string[]} words */
function runShown(command, words) {
  const { status } = spawnSync(command, words, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** @param {keyof typeof FLAGS} kind */
async function renew(kind) {
  /** @type {unknown} */
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  const versions = /** @type {Record<string, Record<string, string>>} */ (manifest)[kind] ?? {};
  const pinned = Object.entries(versions).filter(
    ([name, version]) => !name.startsWith('@crier/') && /^\d/.test(version),
  );
  const newest = await Promise.all(pinned.map(([name, version]) => newestOf(name, version)));
  const renewed = pinned.flatMap(([name, version], index) => {
    if (newest[index] === version) return [];
    process.stdout.write(`${name}: ${version} to ${newest[index]}\n`);
    return `${name}@${newest[index]}`;
  });
  if (renewed.length > 0 && !isDryRun)
    runShown('npm', ['install', '--save-exact', '--ignore-scripts', FLAGS[kind], ...renewed]);
  return renewed.length;
}

const count = (await renew('dependencies')) + (await renew('devDependencies'));
if (count === 0) process.stdout.write('every dependency is the newest of its line\n');
else if (!isDryRun) runShown('.ci/run', []);
