import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { selectTestFiles } from '../support/selection.ts';
import { MORE_TESTS, testsOf } from './folders.ts';

describe('testsOf', () => {
  it('names tests that there are', async () => {
    const root = join(import.meta.dirname, '..');
    for (const folder of Object.keys(MORE_TESTS))
      assert.ok((await selectTestFiles(root, testsOf(folder), [])).length > MORE_TESTS[folder]!.length, folder);
  });
});
