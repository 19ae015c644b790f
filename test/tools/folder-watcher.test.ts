import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { FolderWatcher } from '../../src/tools/folder-watcher.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { waitFor } from '../support/wait-for.ts';
import { reloadStage, resolversOf } from '../reload/stage.ts';

describe('FolderWatcher', () => {
  it('reports a change, an addition, a rename and a removal, once each, and none of node_modules', async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': 'a', 'lib/one.js': '1', 'node_modules/a/a.js': '1' });
    let changes = 0;
    const watcher = new FolderWatcher({
      folder,
      onChange: () => Promise.reject(new Error(`${++changes}`)),
      intervalMs: 5,
    });
    t.after(() => watcher.close());
    await watcher.start();
    const steps = [
      () => writeFile(join(folder, 'lib', 'one.js'), '2'),
      () => mkdir(join(folder, 'more')).then(() => writeFile(join(folder, 'more', 'two.js'), '')),
      () => rename(join(folder, 'lib', 'one.js'), join(folder, 'lib', 'three.js')),
      () => rm(join(folder, 'more'), { recursive: true }),
    ];
    for (const [i, step] of steps.entries()) {
      await writeFile(join(folder, 'node_modules', 'a', 'a.js'), `${i}`);
      await step();
      await waitFor(`change ${i + 1}`, () => changes === i + 1);
    }
  });

  it('reloads a server whose folder changes', async (t) => {
    const { folder, server, change, query } = await reloadStage(t, {});
    const watcher = new FolderWatcher({ folder, onChange: () => server.reload(), intervalMs: 20 });
    t.after(() => watcher.close());
    await watcher.start();
    await change({ 'resolvers.js': resolversOf('second') });
    await waitFor(
      'the second version',
      async () => (await query('{ version }')).data?.['version'] === 'second',
      20_000,
    );
  });
});
