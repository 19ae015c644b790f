import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { waitFor } from '../support/wait-for.ts';
import { SCHEMA, reloadStage } from './stage.ts';

/** Reloads of one pod in sequence. The schema alone changes, so that no process compiles modules. */
const RELOADS = 200;

const schemaOf = (i: number) => `${SCHEMA}\n"revision ${i}" type Revision${i} { id: ID }`;

describe('200 reloads in a row', { timeout: 300_000 }, () => {
  it('keep no timer, socket, metric or sharing group, and live subscriptions go on', async (t) => {
    const plain = SCHEMA.replace('own: Item', '');
    const manifest = join(await graphFolder(t, { 'manifest.json': '' }), 'manifest.json');
    await writeFile(manifest, JSON.stringify({ known: 'query Known { version }' }));
    const files = { 'schema.graphql': plain, 'resolvers.js': '' };
    const stage = await reloadStage(t, files, { TRUSTED_DOCUMENTS: manifest, TRUSTED_DOCUMENTS_MODE: 'allowed' });
    const query = 'subscription { item(id: "a") { n } }';
    const watched = [stage.watch(query), stage.watch(query)];
    await waitFor('the subscriptions', async () => (await stage.metric('crier_subscriptions')) === 2);
    const seriesOf = async () => {
      const text = await (await fetch(`${stage.admin}/metrics`)).text();
      return text.split('\n').filter((line) => line.startsWith('# TYPE')).length;
    };
    const resources = () =>
      process.getActiveResourcesInfo().filter((kind) => /Timeout|TCP|Pipe|MessagePort/.test(kind)).length;
    await stage.change({ 'schema.graphql': schemaOf(RELOADS).replace('own: Item', '') });
    assert.equal((await stage.server.reload()).outcome, 'swapped');
    const [series, active] = [await seriesOf(), resources()];
    for (let i = 0; i < RELOADS; i++) {
      await stage.change({ 'schema.graphql': schemaOf(i).replace('own: Item', '') });
      assert.equal((await stage.server.reload()).outcome, 'swapped');
      if (i % 20 === 0) await stage.put('a', i);
    }
    assert.equal(await stage.metric('crier_graph_reloads_total{outcome="swapped"}'), RELOADS + 1);
    assert.equal(await seriesOf(), series);
    await waitFor('no more resources than before', () => resources() <= active + 2);
    assert.equal(await stage.metric('crier_trusted_documents'), 1);
    assert.equal(await stage.metric('crier_channels'), 1);
    for (const one of watched) {
      await one.event(RELOADS / 20);
      assert.deepEqual(
        one.events.map(({ item }) => (item as { n: number }).n),
        Array.from({ length: RELOADS / 20 }, (_, i) => 20 * i),
      );
      assert.deepEqual(one.failures, []);
    }
  });
});
