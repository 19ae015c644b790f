import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { temporaryFolder } from './support/temporary-folder.ts';

const run = promisify(execFile);

/** Programs of others on npm: `crier` is a package that has nothing to do with this one. */
const FOREIGN = [
  /\bnpx (?!--no-install )(?:-\S+ )*crier\b/,
  /\bnpm (?:create|init|exec|i|install|add)(?: -\S+)* (?:crier|create-crier|babel-plugin-proxy-lazy)(?![\w@-])/,
  /\bnpmjs\.com\/package\/crier\b/,
];

async function trackedTexts(): Promise<readonly (readonly [file: string, text: string])[]> {
  const { stdout } = await run('git', ['grep', '-Il', '-e', 'crier', '-e', 'proxy-lazy']);
  const files = stdout.split('\n').filter((file) => file !== '' && file !== 'test/names.test.ts');
  return Promise.all(files.map(async (file) => [file, await readFile(file, 'utf8')] as const));
}

describe('the names of the packages', () => {
  it('no text has a command that would download a package of others', async () => {
    const found = (await trackedTexts()).flatMap(([file, text]) =>
      FOREIGN.flatMap((pattern) => pattern.exec(text)?.[0] ?? []).map((command) => `${file}: ${command}`),
    );
    assert.deepEqual(found, []);
  });

  it('have one scope, which follows that of package.json by npm run scope', async (t) => {
    const folder = await temporaryFolder(t);
    const { stdout } = await run('git', ['ls-files']);
    for (const file of stdout.trimEnd().split('\n')) await cp(file, join(folder, file), { recursive: true });
    await symlink(resolve('node_modules'), join(folder, 'node_modules'));
    const manifest = join(folder, 'package.json');
    const repository = { type: 'git', url: 'git+https://forge.example/town/crier.git' };
    const ownersManifest = (await readFile(manifest, 'utf8')).replace('"@crier/server"', '"@town/server"');
    await writeFile(manifest, JSON.stringify({ ...(JSON.parse(ownersManifest) as object), repository }));
    const git = (...words: string[]) => run('git', words, { cwd: folder });
    await git('init', '-q');
    await git('add', '-A');
    await run(process.execPath, ['scripts/scope.js'], { cwd: folder });
    const left = git(
      'grep',
      '-IE',
      String.raw`@crier\\?/[a-z]|npm (create|init) @crier|crier-server`,
      '--',
      ':!test/names.test.ts',
    );
    await assert.rejects(left, { code: 1, stdout: '' });
    await run(process.execPath, ['create-crier/main.js', 'app'], { cwd: folder });
    const project = JSON.parse(await readFile(join(folder, 'app', 'package.json'), 'utf8')) as Record<string, object>;
    assert.match(
      JSON.stringify(project['dependencies']),
      /^\{"crier":"file:.*\/town-server-\d.*"@town\/client":"file:/,
    );
    const client = JSON.parse(await readFile(join(folder, 'client', 'package.json'), 'utf8')) as Record<string, object>;
    assert.deepEqual(client['repository'], { ...repository, directory: 'client' });
  });
});
