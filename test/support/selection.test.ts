import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ALONE } from './alone.ts';
import { filesThatImport, selectTestFiles } from './selection.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { gateSeconds } from './test-log.ts';

describe('selectTestFiles', () => {
  const root = join(import.meta.dirname, '..');
  const names = async (...selection: [string[], string[]]) =>
    (await selectTestFiles(root, ...selection)).map((file) => file.slice(root.length + 1));

  it('selects folders and files by the names they have in test/', async () => {
    for (const name of ['support/selection', 'test/support/selection.test.ts']) {
      assert.deepEqual(await names([name], []), ['support/selection.test.js']);
    }
    for (const name of ['support', 'support/']) {
      assert.deepEqual(await names([name], []), [
        'support/ledger.test.js',
        'support/runner.test.js',
        'support/selection.test.js',
      ]);
    }
  });

  it('excludes unwanted names', async () => {
    const files = await names([], ['support']);
    assert.ok(files.length > 0);
    assert.ok(!files.some((file) => file.startsWith('support/')));
  });

  it('refuses a name that selects no file, and lists the possible names', async () => {
    await assert.rejects(names(['buss'], []), /no tests in test\/buss; there are .*support/);
  });

  it('finds each file that runs alone, or that test/gate.md names', async () => {
    assert.equal((await names([...ALONE.keys()], [])).length, ALONE.size);
    const dearest = Object.keys(gateSeconds(readFileSync('test/gate.md', 'utf8')));
    assert.ok(dearest.length > 20);
    assert.equal((await names(dearest, [])).length, dearest.length);
  });
});

describe('filesThatImport', () => {
  it('finds the files that import a module in any way but import(), themselves or by others', async (t) => {
    const root = await temporaryFolder(t);
    const texts = {
      'one.js': `import {\n  a,\n  b,\n} from 'wanted';\n`,
      'two.js': `import { a } from './between.js';\n`,
      'between.js': `import 'other';\nexport { a } from './last.js';\nexport const text = 'x';\n`,
      'last.js': `import 'wanted';\n`,
      'three.js': `import { a } from 'other';\nconst text = "import { a } from 'wanted';";\n`,
    };
    for (const [name, text] of Object.entries(texts)) await writeFile(join(root, name), text);
    const files = ['one.js', 'two.js', 'three.js'].map((name) => join(root, name));
    assert.deepEqual(await filesThatImport(root, files, (module) => module === 'wanted'), files.slice(0, 2));
  });
});
