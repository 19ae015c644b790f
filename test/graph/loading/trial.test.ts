import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { tryModules } from '../../../src/graph/loading/trial.ts';
import { graphFolder } from '../support/graph-folder.ts';

describe('tryModules', () => {
  for (const [title, text] of [
    ['loops', 'for (;;);'],
    ['waits', 'await new Promise(() => setInterval(() => undefined, 1000));'],
  ] as const) {
    it(`rejects when a module ${title} for ever, and ends its process`, async (t) => {
      const folder = await graphFolder(t, { 'resolvers.js': text });
      const file = join(folder, 'resolvers.js');
      const trial = { folder, sources: { [file]: text }, entries: [file] };
      await assert.rejects(tryModules(trial, 500), /has not been loaded within 500 ms: it loops, or waits/);
    });
  }

  it('accepts modules that throw: their import in the pod says what', async (t) => {
    const folder = await graphFolder(t, {});
    const file = join(folder, 'resolvers.js');
    await tryModules({ folder, sources: { [file]: 'throw new Error("of this test");' }, entries: [file] });
  });
});
