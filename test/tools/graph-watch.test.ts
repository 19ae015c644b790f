import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { ReloadOutcome } from '../../src/server/graph-reloads.ts';
import { GraphWatch } from '../../src/tools/graph-watch.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { waitFor } from '../support/wait-for.ts';

const NEVER = new AbortController().signal;
const unchanged: ReloadOutcome = { outcome: 'unchanged', revision: '' };

describe('GraphWatch', () => {
  it('ends a wait for a change that came before it, and reloads a server that started after one', async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': 'a' });
    const watch = new GraphWatch(folder);
    await watch.start();
    await writeFile(join(folder, 'schema.graphql'), 'b');
    await watch.change(NEVER);
    await writeFile(join(folder, 'schema.graphql'), 'c');
    await watch.change(NEVER);
    let reloads = 0;
    const server = { reload: () => Promise.resolve((reloads++, unchanged)) };
    await watch.reload(server);
    assert.equal(reloads, 0, 'nothing has changed since');
    await writeFile(join(folder, 'schema.graphql'), 'd');
    await waitFor('the reload', () => reloads === 1);
    const later = { reloads: 0 };
    await watch.reload({ reload: () => Promise.resolve((later.reloads++, unchanged)) });
    assert.equal(later.reloads, 1, 'it changed before this server had started');
  });

  it('ends a wait when the process is to stop', async (t) => {
    const watch = new GraphWatch(await graphFolder(t, {}));
    await watch.start();
    const stop = new AbortController();
    const waiting = watch.change(stop.signal);
    stop.abort();
    await waiting;
  });
});
