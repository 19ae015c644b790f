import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { selectTestFiles } from './selection.ts';

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
});
