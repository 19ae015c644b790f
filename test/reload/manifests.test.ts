import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/wait-for.ts';
import { SCHEMA, reloadStage, resolversOf } from './stage.ts';

const DOCUMENTS = {
  version: '{ version }',
  labels: 'subscription { item(id: "a") { n label } }',
  numbers: 'subscription { item(id: "a") { n } }',
};
/** The label of an item is gone, and an extra field is there. */
const CHANGED = {
  'schema.graphql': SCHEMA.replace('label: String', 'extra: String'),
  'resolvers.js': resolversOf('second').replace('label:', 'extra:'),
};

/** crier that runs the documents of a manifest and no others. */
async function manifestStage(t: TestContext) {
  const path = join(await temporaryFolder(t), 'manifest.json');
  const write = (documents: Readonly<Record<string, string>>) => writeFile(path, JSON.stringify(documents));
  const put = 'mutation ($input: ItemInput!) { put(input: $input) { offset } }';
  await write({ ...DOCUMENTS, put });
  const stage = await reloadStage(t, {}, { TRUSTED_DOCUMENTS: path });
  const subscribe = (documentId: string) => {
    const told = { results: [] as unknown[], errors: [] as unknown[] };
    const client = createClient({
      url: `ws://127.0.0.1:${stage.server.port}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
    });
    t.after(() => client.dispose());
    const payload = { query: '', documentId };
    client.subscribe(payload, {
      next: ({ data }) => void told.results.push(data),
      error: (error) => void told.errors.push(error),
      complete: () => undefined,
    });
    return told;
  };
  const ask = async (documentId: string) => {
    const response = await fetch(`http://127.0.0.1:${stage.server.port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ documentId }),
    });
    return JSON.stringify(await response.json());
  };
  return {
    ...stage,
    write: (documents: Readonly<Record<string, string>>) => write({ ...documents, put }),
    subscribe,
    ask,
  };
}

describe('trusted documents across a reload', () => {
  it('are validated by the new graph: a subscription that it can run goes on, another one ends with SCHEMA_CHANGED', async (t) => {
    const stage = await manifestStage(t);
    const [labels, numbers] = [stage.subscribe('labels'), stage.subscribe('numbers')];
    await waitFor('the subscriptions', async () => (await stage.metric('crier_subscriptions')) === 2);
    await stage.change(CHANGED);
    assert.equal((await stage.server.reload()).outcome, 'swapped');
    await waitFor('the end', () => labels.errors.length > 0);
    assert.match(JSON.stringify(labels.errors), /SCHEMA_CHANGED/);
    await stage.put('a', 1);
    await waitFor('the event', () => numbers.results.length > 0);
    assert.deepEqual([numbers.results, numbers.errors], [[{ item: { n: 1 } }], []]);
    assert.equal(await stage.metric('crier_trusted_documents_unusable'), 1);
    assert.match(JSON.stringify(stage.lines), /cannot run some trusted documents/);
    assert.equal(await stage.ask('version'), '{"data":{"version":"second"}}');
    assert.match(await stage.ask('labels'), /Cannot query field \\"label\\"/);
  });

  it('are read again: documents that the new graph needs are there with it', async (t) => {
    const stage = await manifestStage(t);
    assert.match(await stage.ask('extras'), /PERSISTED_QUERY_NOT_FOUND/);
    await stage.write({ ...DOCUMENTS, extras: 'subscription { item(id: "a") { n extra } }' });
    await stage.change(CHANGED);
    assert.equal((await stage.server.reload()).outcome, 'swapped');
    const extras = stage.subscribe('extras');
    await waitFor('the subscription', async () => (await stage.metric('crier_subscriptions')) === 1);
    await stage.put('a', 1);
    await waitFor('the event', () => extras.results.length > 0);
    assert.deepEqual([extras.results, extras.errors], [[{ item: { n: 1, extra: 'second' } }], []]);
  });

  it('refuse the new graph if it can run none of them, and the former one is served on', async (t) => {
    const stage = await manifestStage(t);
    const numbers = stage.subscribe('numbers');
    await waitFor('the subscription', async () => (await stage.metric('crier_subscriptions')) === 1);
    await stage.change({
      'schema.graphql':
        'type Query { other: Int } type Subscription { other: Int @kafka(topic: "items", payload: "n") }',
      'resolvers.js': 'export const Query = { other: () => 1 };',
    });
    const outcome = await stage.server.reload();
    assert.equal(outcome.outcome, 'refused');
    assert.match(JSON.stringify(outcome), /TRUSTED_DOCUMENTS: .*this graph can run none of its 4 documents/);
    await stage.put('a', 1);
    await waitFor('the event', () => numbers.results.length > 0);
    assert.equal(await stage.ask('version'), '{"data":{"version":"first"}}');
  });

  it('keep a live subscription whose document the manifest has lost meanwhile, and refuse its next client', async (t) => {
    const stage = await manifestStage(t);
    const numbers = stage.subscribe('numbers');
    await waitFor('the subscription', async () => (await stage.metric('crier_subscriptions')) === 1);
    await stage.write({ version: DOCUMENTS.version });
    await stage.change({ 'resolvers.js': resolversOf('second') });
    assert.equal((await stage.server.reload()).outcome, 'swapped');
    await stage.put('a', 1);
    await waitFor('the event', () => numbers.results.length > 0);
    const next = stage.subscribe('numbers');
    await waitFor('the refusal', () => next.errors.length > 0);
    assert.match(JSON.stringify(next.errors), /PERSISTED_QUERY_NOT_FOUND/);
  });
});
