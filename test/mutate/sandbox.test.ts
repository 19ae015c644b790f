import assert from 'node:assert/strict';
import { mkdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { Sandbox } from './sandbox.ts';

it('a sandbox replaces files of its own build only, also when dist/src is a link', async (t) => {
  const root = await temporaryFolder(t);
  await mkdir(join(root, 'dist', 'src-1'), { recursive: true });
  await writeFile(join(root, 'dist', 'src-1', 'a.js'), 'old');
  await symlink('src-1', join(root, 'dist', 'src'));
  await mkdir(join(root, 'src'));
  await writeFile(join(root, 'src', 'main.ts'), "import './a.ts';");
  const sandbox = await Sandbox.create(root);
  t.after(() => sandbox.remove());
  assert.ok((await realpath(join(sandbox.folder, 'dist', 'src'))).startsWith(sandbox.folder));
  await sandbox.replace('src/a.ts', 'export const a: number = 1;');
  assert.match(await readFile(join(sandbox.folder, 'dist', 'src', 'a.js'), 'utf8'), /export const a = 1/);
  assert.match(await readFile(join(sandbox.folder, 'dist', 'src', 'main.js'), 'utf8'), /^import ".\/a.js";/);
  assert.equal(await readFile(join(root, 'dist', 'src', 'a.js'), 'utf8'), 'old');
});
