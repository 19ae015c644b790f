import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { tryModules } from '../../../src/graph/loading/module-trial.ts';
import { blockLoop } from '../../support/block-loop.ts';
import { waitFor } from '../../support/wait-for.ts';
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

  it('accepts modules whose process a busy event loop learns to have ended before it reads that they were imported', async (t) => {
    const folder = await graphFolder(t, {});
    const [file, pidFile, go] = [join(folder, 'resolvers.js'), join(folder, 'pid'), join(folder, 'go')];
    const text = `
      import { existsSync, writeFileSync } from 'node:fs';
      writeFileSync(${JSON.stringify(pidFile)}, String(process.pid));
      while (!existsSync(${JSON.stringify(go)})) await new Promise((resolve) => setTimeout(resolve, 5));`;
    const trying = tryModules({ folder, sources: { [file]: text }, entries: [file] });
    trying.catch(() => undefined);
    const pid = await waitFor('the process', () => (existsSync(pidFile) ? readFileSync(pidFile, 'utf8') : ''));
    // The signal of another child is handled after the end of its output, and with it all children that have ended by then.
    const other = spawn('true', { stdio: ['ignore', 'pipe', 'ignore'] });
    other.stdout.resume().once('end', () => {
      writeFileSync(go, '');
      blockUntilEnded(pid);
    });
    blockUntilEnded(other.pid!);
    await trying;
  });
});

function blockUntilEnded(pid: number | string): void {
  while (!readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')) blockLoop(5);
}
