import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { createClient } from 'graphql-ws';
import type { SubscribePayload } from 'graphql-ws';
import { getIntrospectionQuery } from 'graphql';
import { pino } from 'pino';
import { WebSocket } from 'ws';
import { startServer } from '../../../src/server.ts';
import { graphFolder } from '../../graph/support/graph-folder.ts';
import { metricOf } from '../../support/metric.ts';
import { openSocket } from '../../support/socket.ts';
import { testConfig } from '../../support/switches.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitFor } from '../../support/wait-for.ts';

const GRAPH = {
  'schema.graphql': `
    type Query { hello: String greet(name: String): String }
    type Mutation { shout: String }
    type Subscription { tick: Tick @kafka(topic: "ticks", payload: "tick") }
    type Tick { count: Int }
  `,
  'resolvers.js': `
    export const Query = { hello: () => 'world', greet: (_, { name }) => 'hello ' + name };
    export const Mutation = { shout: () => 'HI' };
  `,
  'samples.js': `export function* records() { for (let count = 0; ; count++) yield { topic: 'ticks', value: { tick: { count } } }; }`,
};

const HELLO = 'query Hello { hello }';
const GREET = 'query Greet($name: String) { greet(name: $name) }';
const SHOUT = 'mutation Shout { shout }';
const TICK = 'subscription Tick { tick { count } }';
const OTHER = 'query Other { hello }';
const keyOf = (text: string) => hash('sha256', text);
const sha1 = (text: string) => hash('sha1', text);

/** As GraphQL Code Generator's client preset writes it, with its default hash. */
const MANIFEST = Object.fromEntries([HELLO, GREET, SHOUT, TICK].map((text) => [sha1(text), text]));

const codesOf = (payload: unknown) =>
  (payload as readonly { extensions: { code: string } }[]).map(({ extensions }) => extensions.code);

/** A crier with trusted documents, or with the given settings only. */
async function stage(t: TestContext, settings: Readonly<Record<string, string>> = {}, manifest?: object) {
  const path = join(await temporaryFolder(t), 'persisted-documents.json');
  const write = async (content: unknown) => {
    await writeFile(`${path}.draft`, typeof content === 'string' ? content : JSON.stringify(content));
    await rename(`${path}.draft`, path);
  };
  if (manifest) await write(manifest);
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'debug' },
    { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const config = testConfig({
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    GRAPH: await graphFolder(t, GRAPH),
    ...(manifest && { TRUSTED_DOCUMENTS: path }),
    ...settings,
  });
  const server = await startServer(config, log, { onFatal: (error) => assert.fail(error) });
  t.after(() => server.close());
  const [http, admin] = [`http://127.0.0.1:${server.port}/graphql`, `http://127.0.0.1:${server.adminPort}`];
  const url = http.replace('http', 'ws');
  const post = async (body: object) => {
    const response = await fetch(http, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await response.json()) as { data?: unknown; errors?: { message: string; extensions: { code: string } }[] };
  };
  const connect = async () => {
    const socket = await openSocket(t, url);
    await socket.init();
    return socket;
  };
  /** The first message for a payload, of a stock client, which sends the payload as it is. */
  const subscribe = (payload: object) =>
    new Promise<unknown>((resolve) => {
      const client = createClient({ url, webSocketImpl: WebSocket, retryAttempts: 0 });
      t.after(() => client.dispose());
      client.subscribe(payload as SubscribePayload, { next: resolve, error: resolve, complete: () => undefined });
    });
  return { http, lines, write, post, connect, subscribe, metric: (name: string) => metricOf(admin, name) };
}

const persisted = (sha256Hash: string) => ({ persistedQuery: { version: 1, sha256Hash } });

describe('trusted documents', () => {
  const forms: readonly (readonly [client: string, payload: object])[] = [
    ["urql's subscriptionExchange with the recipe of its documentation", { query: '', documentId: sha1(HELLO) }],
    ["urql's persistedExchange", { query: '', extensions: persisted(sha1(HELLO)) }],
    [
      "Apollo's link, which always sends its text, with the id of a manifest",
      { query: '{ hello __typename }', extensions: persisted(sha1(HELLO)) },
    ],
    ["Apollo's link without a manifest of ids", { query: HELLO, extensions: persisted(keyOf(HELLO)) }],
    [
      'a client that writes the SHA-256 of the text as GraphQL over HTTP does',
      { query: '', documentId: `sha256:${keyOf(HELLO)}` },
    ],
    ['a client that knows no ids', { query: HELLO }],
    ['a client that names the operation', { query: '', documentId: sha1(HELLO), operationName: 'Hello' }],
  ];
  for (const [client, payload] of forms) {
    it(`are run over WebSocket and by POST as they come from ${client}`, async (t) => {
      const { subscribe, post } = await stage(t, {}, MANIFEST);
      assert.deepEqual(await subscribe(payload), { data: { hello: 'world' } });
      assert.deepEqual(await post(payload), { data: { hello: 'world' } });
    });
  }

  it('are run by POST without a query, or with null', async (t) => {
    const { post } = await stage(t, {}, MANIFEST);
    for (const named of [{ documentId: sha1(GREET) }, { extensions: persisted(sha1(GREET)) }])
      for (const query of [{}, { query: null }, { query: '' }])
        assert.deepEqual(await post({ ...query, ...named, variables: { name: 'Ida' } }), {
          data: { greet: 'hello Ida' },
        });
  });

  it('are run by GET, but for mutations', async (t) => {
    const { http } = await stage(t, {}, MANIFEST);
    const get = async (params: Readonly<Record<string, string>>) =>
      fetch(`${http}?${new URLSearchParams(params).toString()}`, { headers: { 'apollo-require-preflight': 'true' } });
    const variables = JSON.stringify({ name: 'Ida' });
    for (const named of [
      { documentId: sha1(GREET) },
      { extensions: JSON.stringify(persisted(sha1(GREET))) },
      { query: GREET },
    ])
      assert.deepEqual(await (await get({ ...named, variables })).json(), { data: { greet: 'hello Ida' } });
    assert.equal((await get({ documentId: sha1(SHOUT) })).status, 405);
    assert.equal((await get({ extensions: '{' })).status, 400);
    assert.equal((await get({})).status, 400);
  });

  it('are the only ones that are run; of others nothing is parsed or compiled (S-48)', async (t) => {
    const { post, connect, metric } = await stage(t, { JIT_AFTER_USES: '1' }, MANIFEST);
    const socket = await connect();
    const requests = [
      { query: OTHER },
      { query: `${HELLO} ` },
      { query: '{ __typename }' },
      { query: '{' },
      { query: getIntrospectionQuery() },
      { query: OTHER, extensions: persisted(keyOf(OTHER)) },
      { query: '', documentId: keyOf(OTHER) },
      { query: '', documentId: 'x'.repeat(10_000) },
    ];
    for (const [i, payload] of requests.entries()) {
      socket.send({ type: 'subscribe', id: `${i}`, payload });
      const message = await socket.next();
      assert.equal(message.type, 'error');
      assert.deepEqual(codesOf(message.payload), ['PERSISTED_QUERY_NOT_FOUND']);
      assert.deepEqual(codesOf((await post(payload)).errors), ['PERSISTED_QUERY_NOT_FOUND']);
    }
    assert.equal(await metric('crier_documents_cached'), 0);
    assert.equal(await metric('crier_compilations_total{outcome="compiled"}'), 0);
    assert.equal(await metric('crier_documents_total{outcome="unknown"}'), 2 * requests.length);
    assert.equal(await metric('crier_documents_total{outcome="miss"}'), 0);
    assert.equal(await metric('crier_documents_total{outcome="invalid"}'), 0);
    // The connection lives, and trusted documents are run.
    socket.send({ type: 'subscribe', id: 'good', payload: { query: '', documentId: sha1(HELLO) } });
    assert.deepEqual((await socket.next()).payload, { data: { hello: 'world' } });
  });

  it('are run beside others with TRUSTED_DOCUMENTS_MODE=allowed, which are counted (twin of S-48)', async (t) => {
    const { post, metric } = await stage(t, { TRUSTED_DOCUMENTS_MODE: 'allowed' }, MANIFEST);
    assert.deepEqual(await post({ query: HELLO }), { data: { hello: 'world' } });
    assert.equal(await metric('crier_untrusted_documents_total'), 0);
    assert.deepEqual(await post({ query: OTHER }), { data: { hello: 'world' } });
    assert.equal(await metric('crier_untrusted_documents_total'), 1);
    assert.equal(await metric('crier_documents_cached'), 2);
  });

  it('tell clients of an unknown id what Apollo and urql look for', async (t) => {
    const { post } = await stage(t, { TRUSTED_DOCUMENTS_MODE: 'allowed' }, MANIFEST);
    assert.deepEqual(await post({ extensions: persisted(keyOf(OTHER)) }), {
      errors: [{ message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }],
    });
  });

  it('share executions, by id and by text', async (t) => {
    const { subscribe, metric } = await stage(t, { DISABLE: '' }, MANIFEST);
    const all = await Promise.all(
      [{ query: '', documentId: sha1(TICK) }, { query: '', documentId: keyOf(TICK) }, { query: TICK }].map(subscribe),
    );
    for (const result of all)
      assert.equal(typeof (result as { data: { tick: { count: number } } }).data.tick.count, 'number');
    await waitFor('a shared result', async () => (await metric('crier_results_shared_total')) > 3);
    assert.equal(await metric('crier_documents_cached'), 1);
  });

  it('follow the file: what it adds is run, what it removes is refused, and live subscriptions go on', async (t) => {
    const { connect, post, write, lines, metric } = await stage(t, {}, MANIFEST);
    const socket = await connect();
    socket.send({ type: 'subscribe', id: 'live', payload: { query: '', documentId: sha1(TICK) } });
    await socket.next();
    await write({ other: OTHER });
    await waitFor('the change', async () => (await metric('crier_trusted_documents')) === 1);
    assert.deepEqual(await post({ documentId: 'other' }), { data: { hello: 'world' } });
    assert.deepEqual(codesOf((await post({ documentId: sha1(TICK) })).errors), ['PERSISTED_QUERY_NOT_FOUND']);
    assert.ok(!socket.unread.some(({ type }) => type !== 'next'));
    const events = socket.unread.length;
    await waitFor('another event', () => socket.unread.length > events);
    await write('{');
    await waitFor('the refusal', async () => (await metric('crier_trusted_documents_rejected_total')) === 1);
    assert.deepEqual(await post({ documentId: 'other' }), { data: { hello: 'world' } });
    assert.match(String(lines.at(-1)!['reason']), /persisted-documents\.json: not JSON/);
  });

  it('are named at the start where the graph cannot run them, and answered with their errors', async (t) => {
    const { lines, post, metric } = await stage(t, {}, { ...MANIFEST, old: '{ removed }' });
    const line = lines.find(({ unusable }) => unusable !== undefined);
    assert.deepEqual(line?.['unusable'], [{ id: 'old', reason: 'Cannot query field "removed" on type "Query".' }]);
    assert.equal(await metric('crier_trusted_documents_unusable'), 1);
    assert.deepEqual(codesOf((await post({ documentId: 'old' })).errors), ['GRAPHQL_VALIDATION_FAILED']);
  });
});

describe('a request with an id', () => {
  it('is answered so that the client sends its text, without a manifest and without APQ', async (t) => {
    const { subscribe, post } = await stage(t);
    for (const answer of [
      await subscribe({ query: '', extensions: persisted(keyOf(HELLO)) }),
      (await post({ documentId: 'x' })).errors,
    ])
      assert.deepEqual(answer, [
        { message: 'PersistedQueryNotSupported', extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED' } },
      ]);
    const payload = { query: HELLO, extensions: persisted(keyOf(HELLO)) };
    assert.deepEqual(await subscribe(payload), { data: { hello: 'world' } });
  });

  it("closes with 4400 without a text, which graphql-ws's client always sends", async (t) => {
    const { connect } = await stage(t, {}, MANIFEST);
    for (const query of [{}, { query: null }]) {
      const socket = await connect();
      socket.send({ type: 'subscribe', id: 'a', payload: { ...query, documentId: sha1(HELLO) } });
      assert.equal((await socket.expectClose()).code, 4400);
    }
  });

  for (const payload of [
    {},
    { query: null },
    { documentId: '' },
    { documentId: 5 },
    { query: 5, documentId: 'x' },
    { query: { kind: 'Document' }, documentId: 'x' },
    { extensions: { persistedQuery: {} } },
    { extensions: persisted('') },
    { extensions: { persistedQuery: null } },
    { extensions: [], documentId: 'x' },
    { variables: 1, documentId: 'x' },
  ]) {
    it(`closes with 4400, and answers 400, if it is ${JSON.stringify(payload)}`, async (t) => {
      const { connect, http } = await stage(t, {}, MANIFEST);
      const socket = await connect();
      socket.send({ type: 'subscribe', id: 'a', payload });
      assert.equal((await socket.expectClose()).code, 4400);
      const headers = { 'content-type': 'application/json', accept: 'application/graphql-response+json' };
      assert.equal((await fetch(http, { method: 'POST', headers, body: JSON.stringify(payload) })).status, 400);
    });
  }
});

describe('automatic persisted queries', () => {
  it('register a text with its hash, which is then enough, over WebSocket and by POST', async (t) => {
    const { subscribe, post, metric } = await stage(t, { APQ: 'true' });
    const extensions = persisted(keyOf(HELLO));
    assert.deepEqual(codesOf(await subscribe({ query: '', extensions })), ['PERSISTED_QUERY_NOT_FOUND']);
    assert.deepEqual(await subscribe({ query: HELLO, extensions }), { data: { hello: 'world' } });
    assert.deepEqual(await subscribe({ query: '', extensions }), { data: { hello: 'world' } });
    assert.deepEqual(await post({ extensions }), { data: { hello: 'world' } });
    assert.equal(await metric('crier_documents_total{outcome="unknown"}'), 1);
    assert.equal(await metric('crier_documents_total{outcome="miss"}'), 1);
    assert.equal(await metric('crier_documents_total{outcome="hit"}'), 2);
  });

  it('refuse a text with the hash of another, and then that hash (S-49)', async (t) => {
    const { post, metric } = await stage(t, { APQ: 'true' });
    const extensions = persisted(keyOf(OTHER));
    assert.deepEqual(codesOf((await post({ query: HELLO, extensions })).errors), ['PERSISTED_QUERY_MISMATCH']);
    assert.deepEqual(codesOf((await post({ extensions })).errors), ['PERSISTED_QUERY_NOT_FOUND']);
    assert.equal(await metric('crier_documents_total{outcome="mismatch"}'), 1);
    assert.equal(await metric('crier_documents_cached'), 0);
  });
});
