import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { installed, packAll } from './packed.ts';

const run = promisify(execFile);

const PROGRAM = `
import { transformAsync } from '@babel/core';
const source = 'export const loaders = Proxy.lazy({ a: globalThis.reads = (globalThis.reads ?? 0) + 1 });';
const { code } = await transformAsync(source, { plugins: ['babel-plugin-proxy-lazy'], configFile: false });
const { loaders } = await import('data:text/javascript,' + encodeURIComponent(code));
console.log(globalThis.reads, loaders.a, loaders.a);
`;

it('babel-plugin-proxy-lazy compiles Proxy.lazy in a project that installs it beside Babel', async (t) => {
  const archive = (await packAll(t)).get('babel-plugin-proxy-lazy')!;
  const folder = await installed(t, archive, '@babel/core@7');
  await writeFile(join(folder, 'program.js'), PROGRAM);
  const { stdout } = await run(process.execPath, ['program.js'], { cwd: folder });
  assert.equal(stdout.trim(), 'undefined 1 1');
});
