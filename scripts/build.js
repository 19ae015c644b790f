import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  cp,
  lstat,
  mkdir,
  readFile,
  readdir,
  readlink,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

/**
 * `node scripts/build.js [--pack] <part> ...` compiles parts of the project into dist/. Plain JS, because it runs before anything is
 * compiled.
 *
 * A build of a part is a folder, dist/<part>-<hash of its sources>, and dist/<part> is a symbolic link to it. A new build is written to a
 * draft folder and replaces the link atomically. Node identifies a module by its real path, so a running process keeps the build that it
 * started with. A build that exists is reused.
 *
 * The modules of src are also bundled, for a faster start: dist/src/main.js runs the bundle.
 *
 * The pages are bundled only where their sources or packages have changed; each build of src has a copy of the bundle.
 *
 * dist/revision names the commit of the last build of src, for `--version`. No build depends on it.
 *
 * client/dist, where the package @crier/client has its files, is a link to dist/client.
 *
 * `--pack`: the link that is packed becomes a folder, because npm does not pack symbolic links.
 */
const TARGET = 'dist';
const CLIENT_LINK = join('client', 'dist');
const PARTS = ['client', 'src', 'examples', 'stack', 'scripts', 'test', 'loadtest'];
/** The folder of a part, where it has not its name: of the examples, the one that crier runs without a graph. */
const FOLDERS = new Map([['examples', join('examples', 'auction')]]);
const BABEL = join('node_modules', '@babel', 'cli', 'bin', 'babel.js');
/** Sources of every part, besides its own folder. */
const SHARED_INPUTS = [
  'babel.config.js',
  'package-lock.json',
  // The packages that are really installed.
  'node_modules/.package-lock.json',
  'plugins',
  'scripts/build.js',
  'scripts/bundle-main.js',
  'scripts/declare-client.js',
  'scripts/declare-library.js',
];
/** What the pages are bundled from. */
const PAGES_INPUTS = ['pages', 'client', 'scripts/bundle-pages.js', 'node_modules/.package-lock.json'];
/** Bundles of the pages. A new `npm ci` removes them. */
const PAGES_CACHE = join('node_modules', '.cache', 'crier');
const NO_INPUTS = new Set(['node_modules', 'dist', 'fixtures', 'results', 'profiles']);
/** How long a build is kept after it was replaced, in ms: a process that started with it may still read from it. */
const KEPT_MS = 24 * 60 * 60_000;

/** @param {string} part @param {boolean} isPacked */
async function build(part, isPacked) {
  await mkdir(TARGET, { recursive: true });
  const name = await compiled(part);
  if (isPacked) await putCopy(part === 'client' ? CLIENT_LINK : join(TARGET, part), name);
  else await putLink(part, join(TARGET, part), name);
  if (part === 'client' && !isPacked) await putLink(part, CLIENT_LINK, join('..', TARGET, part));
  await prune(TARGET, part, name);
  if (part === 'src') await putRevision();
}

/** REVISION, which an image's build sets, or the checkout's commit; without both there is no file. */
async function putRevision() {
  const path = join(TARGET, 'revision');
  const revision = process.env['REVISION'] || (await commitOfCheckout());
  if (!revision) return rm(path, { force: true });
  // `prune` removes it, should this build be interrupted.
  const draft = draftOf('src-revision');
  await writeFile(draft, revision);
  return rename(draft, path);
}

/**
 * The commit, with `-dirty` if tracked files have changed since; '' without git, and where this folder is not the top of a checkout: an
 * unpacked archive may lie in a checkout of another project.
 */
async function commitOfCheckout() {
  try {
    if ((await git('rev-parse', '--show-prefix')) !== '') return '';
    const commit = await git('rev-parse', '--short=12', 'HEAD');
    return (await git('status', '--porcelain', '--untracked-files=no')) === '' ? commit : `${commit}-dirty`;
  } catch {
    return '';
  }
}

/** Takes no lock of the repository, which would fail a commit that is made meanwhile. @param {string[]} words */
async function git(...words) {
  return (await promisify(execFile)('git', ['--no-optional-locks', ...words])).stdout.trim();
}

/**
 * Builds the part unless the build exists. Returns its name.
 * @param {string} part
 */
async function compiled(part) {
  for (;;) {
    const name = `${part}-${await hashOfPart(part)}`;
    if (existsSync(join(TARGET, name))) return name;
    const draft = draftOf(name);
    process.stderr.write(`build: compiling ${part}\n`);
    try {
      await compile(part, draft);
      // A source changed during the build: build again.
      if (name !== `${part}-${await hashOfPart(part)}`) continue;
      await rename(draft, join(TARGET, name)).catch(expect('ENOTEMPTY', 'EEXIST'));
      return name;
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  }
}

/** @param {string} part @param {string} folder */
async function compile(part, folder) {
  // Babel reads the folder, and fails on a link to a build that was removed.
  if (part === 'client' && !existsSync(CLIENT_LINK)) await rm(CLIENT_LINK, { force: true });
  const flags =
    part === 'src' || part === 'examples'
      ? ['--copy-files']
      : ['--ignore', '**/fixtures/**,loadtest/node_modules/**,client/dist/**'];
  const source = folderOf(part);
  const target = join(folder, relative(part, source));
  await runNode([BABEL, source, '--out-dir', target, '--extensions', '.ts', '--quiet', ...flags]);
  if (part === 'client') {
    const { declareClient } = await import('./declare-client.js');
    await declareClient(folder);
  } else if (part === 'src') {
    const { bundleMain } = await import('./bundle-main.js');
    await bundleMain(folder);
    await cp(await bundledPages(), join(folder, 'gateway', 'http'), { recursive: true });
  }
}

/** The folder of the bundled pages. */
async function bundledPages() {
  const name = `pages-${await hashOf(PAGES_INPUTS)}`;
  const folder = join(PAGES_CACHE, name);
  if (existsSync(folder)) return folder;
  const draft = `${folder}-${randomBytes(6).toString('hex')}`;
  try {
    const { bundlePages } = await import('./bundle-pages.js');
    await bundlePages(draft);
    await rename(draft, folder).catch(expect('ENOTEMPTY', 'EEXIST'));
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  await prune(PAGES_CACHE, 'pages', name);
  return folder;
}

/** @param {string} part @param {string} link @param {string} target relative to the link */
async function putLink(part, link, target) {
  const before = await readlink(link).catch(expect('ENOENT', 'EINVAL'));
  if (before === target) return;
  const draft = draftOf(`${part}-link`);
  await symlink(target, draft);
  // `prune` goes by these times.
  for (const version of [target, before]) if (version) await touch(join(dirname(link), version));
  try {
    await rename(draft, link);
  } catch (error) {
    expect('EISDIR')(/** @type {NodeJS.ErrnoException} */ (error));
    // The link is a folder: packed, or from a version without links.
    await rename(link, draftOf(`${part}-folder`));
    await rename(draft, link);
  }
}

/** @param {string} path @param {string} name */
async function putCopy(path, name) {
  const [part = ''] = name.split('-');
  const draft = draftOf(`${part}-copy`);
  await cp(join(TARGET, name), draft, { recursive: true });
  if (part === 'src') {
    const { declareLibrary } = await import('./declare-library.js');
    declareLibrary(draft);
  }
  await rename(path, draftOf(`${part}-link`)).catch(expect('ENOENT'));
  await rename(draft, path);
}

/**
 * Removes builds that were replaced long ago, and drafts of interrupted builds.
 * @param {string} folder
 * @param {string} part
 * @param {string} current
 */
async function prune(folder, part, current) {
  for (const name of await readdir(folder)) {
    if (name === current || !name.replace(/^\./, '').startsWith(`${part}-`)) continue;
    const path = join(folder, name);
    const { mtimeMs } = await lstat(path).catch(() => ({ mtimeMs: Infinity }));
    if (Date.now() - mtimeMs > KEPT_MS) await rm(path, { recursive: true, force: true });
  }
}

/** @param {string} part */
function folderOf(part) {
  return FOLDERS.get(part) ?? part;
}

/** Of a part's build. @param {string} part */
function hashOfPart(part) {
  return hashOf([folderOf(part), ...SHARED_INPUTS, ...(part === 'src' ? PAGES_INPUTS : [])]);
}

/** @param {readonly string[]} inputs files and folders */
async function hashOf(inputs) {
  const hash = createHash('sha256').update(process.version);
  for (const file of (await Promise.all(inputs.map(filesOf))).flat()) {
    // An editor may have removed its temporary file.
    const content = await readFile(file).catch(expect('ENOENT'));
    if (!content) continue;
    hash.update(`${file} ${content.length}\n`).update(content);
  }
  return hash.digest('hex').slice(0, 12);
}

/**
 * The file, or the files in the folder, in a fixed order; none if the path does not exist.
 * @param {string} path
 * @returns {Promise<string[]>}
 */
async function filesOf(path) {
  const entries = await readdir(path, { withFileTypes: true }).catch(expect('ENOENT', 'ENOTDIR'));
  if (!entries) return existsSync(path) ? [path] : [];
  const names = entries.filter(({ name }) => !NO_INPUTS.has(name)).map(({ name }) => name);
  return (await Promise.all(names.sort().map((name) => filesOf(join(path, name))))).flat();
}

/** A unique name in dist/. It is random, because a restarted container has the same process id. @param {string} name */
function draftOf(name) {
  return join(TARGET, `.${name}-${randomBytes(6).toString('hex')}`);
}

/** @param {string} path */
async function touch(path) {
  const now = new Date();
  await utimes(path, now, now).catch(expect('ENOENT'));
}

/** Handles errors with these codes, and throws others. @param {string[]} codes */
function expect(...codes) {
  return (/** @type {NodeJS.ErrnoException} */ error) => {
    if (!codes.includes(error.code ?? '')) throw error;
  };
}

/** @param {string[]} args */
async function runNode(args) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  /** @type {number | null} */
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  if (code !== 0) throw new Error(`failed (${code ?? child.signalCode}): ${args.join(' ')}`);
}

// npm runs the scripts of a package in its own folder.
process.chdir(join(import.meta.dirname, '..'));
const names = process.argv.slice(2);
const isPacked = names[0] === '--pack';
const parts = isPacked ? names.slice(1) : names;
if (!existsSync(BABEL)) {
  process.stderr.write('build: the packages are not installed: run `npm ci` first\n');
  process.exit(1);
}
const unknown = parts.filter((part) => !PARTS.includes(part));
if (unknown.length > 0) throw new Error(`expected parts of ${PARTS.join(', ')}, got ${unknown.join(', ')}`);
await Promise.all(
  parts.map((part) =>
    build(part, isPacked).catch((/** @type {Error} */ { message }) => {
      process.stderr.write(`build: ${message}\n`);
      process.exitCode = 1;
    }),
  ),
);
