import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { waitFor } from '../support/wait-for.ts';
import { SCHEMA, reloadStage, resolversOf } from './stage.ts';

const ITEM = 'subscription ($id: ID!) { item(id: $id) { n label } }';

describe('a reload of the graph', () => {
  it('serves changed resolvers to the next query and to live subscriptions, which miss nothing', async (t) => {
    const stage = await reloadStage(t, {});
    const live = stage.watch(ITEM, { id: 'a' });
    await waitFor('the subscription', async () => (await stage.metric('crier_channels')) === 1);
    await stage.put('a', 1);
    assert.deepEqual(await live.event(1), { item: { n: 1, label: 'first' } });

    await stage.change({ 'resolvers.js': resolversOf('second') });
    const outcome = await stage.server.reload();
    assert.equal(outcome.outcome, 'swapped');
    assert.equal((await stage.ready())['graph_revision'], outcome.revision);
    assert.equal(await stage.metric('crier_graph_reloads_total{outcome="swapped"}'), 1);
    assert.deepEqual((await stage.query('{ version }')).data, { version: 'second' });
    await stage.put('a', 2);
    assert.deepEqual(await live.event(2), { item: { n: 2, label: 'second' } });
    assert.deepEqual(live.failures, []);
  });

  it('ends only the operations that select a field which is gone, with SCHEMA_CHANGED', async (t) => {
    const stage = await reloadStage(t, {});
    const selecting = stage.watch(ITEM, { id: 'a' });
    const other = stage.watch('subscription { item(id: "a") { n } }');
    await waitFor('the subscriptions', async () => (await stage.metric('crier_subscriptions')) === 2);
    await stage.change({ 'schema.graphql': SCHEMA.replace('label: String', 'extra: String'), 'resolvers.js': '' });
    await stage.change({ 'resolvers.js': resolversOf('second').replace('label:', 'extra:') });
    assert.equal((await stage.server.reload()).outcome, 'swapped');
    await waitFor('the end', () => selecting.failures.length > 0);
    assert.match(selecting.failures[0]!, /SCHEMA_CHANGED/);
    assert.match(selecting.failures[0]!, /label/);
    await stage.put('a', 1);
    assert.deepEqual(await other.event(1), { item: { n: 1 } });
    const added = stage.watch('subscription { item(id: "a") { n extra } }');
    await waitFor('the subscription', async () => (await stage.metric('crier_subscriptions')) === 2);
    await stage.put('a', 2);
    assert.deepEqual(await added.event(1), { item: { n: 2, extra: 'second' } });
    assert.deepEqual(selecting.failures.length, 1);
  });
});

describe('a reload of a graph that cannot be served', () => {
  const REFUSED: readonly [title: string, files: Readonly<Record<string, string>>, expected: RegExp][] = [
    [
      'has a mistake in its schema',
      { 'schema.graphql': SCHEMA.replace('path: "id"', 'path: "x"') },
      /path "x" leads to no field, which a path inside the payload must/,
    ],
    [
      'has two mistakes',
      { 'schema.graphql': SCHEMA.replaceAll('path: "', 'path: "x') },
      /"xid" leads to no field[^]*"xgroup" leads to no field/,
    ],
    ['has a syntax error', { 'resolvers.js': 'export const = 1;' }, /resolvers\.js:1: /],
    [
      'throws while it loads',
      { 'resolvers.js': '\n\nthrow new Error("no database");' },
      /resolvers\.js:3: no database/,
    ],
    [
      'ends the process while it loads',
      { 'resolvers.js': 'process.exit(3);' },
      /ended the process that tried it \(3\)/,
    ],
  ];
  for (const [title, files, expected] of REFUSED) {
    it(`changes nothing and says why if it ${title}`, async (t) => {
      const stage = await reloadStage(t, {});
      const live = stage.watch(ITEM, { id: 'a' });
      await waitFor('the subscription', async () => (await stage.metric('crier_channels')) === 1);
      const before = await stage.ready();
      await stage.change(files);
      const outcome = await stage.server.reload();
      assert.equal(outcome.outcome, 'refused');
      assert.match((outcome as { problems: readonly string[] }).problems.join('\n'), expected);
      assert.match(JSON.stringify(stage.lines), /the graph was not reloaded/);
      assert.deepEqual(await stage.ready(), before);
      await stage.put('a', 1);
      assert.deepEqual(await live.event(1), { item: { n: 1, label: 'first' } });
      await stage.change({ 'schema.graphql': SCHEMA, 'resolvers.js': resolversOf('second') });
      assert.equal((await stage.server.reload()).outcome, 'swapped');
      assert.deepEqual((await stage.query('{ version }')).data, { version: 'second' });
    });
  }

  it('gives a module that failed once another chance with the same contents', async (t) => {
    const stage = await reloadStage(t, {});
    const text = `import { existsSync } from 'node:fs';
      if (!existsSync(new URL('./ready', import.meta.url))) throw new Error('not ready');
      ${resolversOf('second')}`;
    await stage.change({ 'resolvers.js': text });
    assert.equal((await stage.server.reload()).outcome, 'refused');
    await stage.change({ ready: '' });
    assert.equal((await stage.server.reload()).outcome, 'swapped');
  });
});

describe('reloads at once', () => {
  it('follow each other: one that is asked for while another runs reads the folder after it', async (t) => {
    const stage = await reloadStage(t, {});
    // A reload runs this module after it has read the folder; the module waits for the file `go`.
    const waiting = `
      import { existsSync, writeFileSync } from 'node:fs';
      import { setTimeout } from 'node:timers/promises';
      const here = (name) => new URL(name, import.meta.url);
      writeFileSync(here('./runs'), '');
      while (!existsSync(here('./go'))) await setTimeout(5);`;
    await stage.change({ 'resolvers.js': resolversOf('second', waiting) });
    const first = stage.server.reload();
    await waitFor('the module', () => existsSync(join(stage.folder, 'runs')));
    const [second, third] = [stage.server.reload(), stage.server.reload()];
    assert.equal(second, third);
    await stage.change({ 'resolvers.js': resolversOf('third') });
    await stage.change({ go: '' });
    assert.equal((await first).outcome, 'swapped');
    assert.equal((await second).outcome, 'swapped');
    assert.deepEqual((await stage.query('{ version }')).data, { version: 'third' });
    assert.equal((await stage.server.reload()).outcome, 'unchanged');
  });

  it('are refused while the pod drains', async (t) => {
    const stage = await reloadStage(t, {});
    await stage.change({ 'resolvers.js': resolversOf('second') });
    const running = stage.server.reload();
    const closing = stage.server.close();
    const outcome = await running;
    assert.deepEqual(outcome.outcome === 'refused' && outcome.problems, [
      'the pod is draining: it serves its graph until it ends',
    ]);
    await closing;
  });
});
