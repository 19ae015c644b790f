import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { backendServer } from '../../graph/context/backend-server.ts';
import { startPod } from '../../end-to-end/pod-server.ts';
import { graphFolder } from '../../graph/support/graph-folder.ts';
import { openSocket } from '../../support/socket.ts';

const GRAPH = {
  'schema.graphql': `
    type Query { hello: String fails: String }
    type Subscription { tick: Tick @kafka(topic: "ticks") }
    type Tick { at: Int text: String asked: String slow: Int }
  `,
  'resolvers.js': `
    export const Query = { hello: () => 'world', fails: () => { throw new Error('of this test'); } };
    export const Tick = {
      asked: async (_source, _args, context) => (await context.backends.shop.get('/')).name,
      // It waits and does not block: an execution that waits for a backend would have the time of the block, too.
      slow: () => new Promise((resolve) => setTimeout(resolve, 200, 1)),
    };
  `,
  'context.js': `export const backends = ['shop'];`,
  'samples.js': `
    export function* records() {
      for (let at = 0; ; at++) yield { topic: 'ticks', value: { at, text: 'x'.repeat(20000) } };
    }
  `,
};

const CHEAP = 'subscription Cheap { tick { at } }';
const SLOW = 'subscription Slow { tick { slow } }';
const ASKING = 'subscription Asking { tick { asked } }';
const LARGE = 'subscription Large { tick { text at } }';

interface Row {
  readonly [column: string]: unknown;
  readonly operation: string;
}

async function start(t: TestContext) {
  const url = await backendServer(t, (_request, response) => {
    response.setHeader('content-type', 'application/json').end('{"name":"a"}');
  });
  const settings = { GRAPH: await graphFolder(t, GRAPH), SAMPLE_INTERVAL_MS: '20', BACKEND_SHOP_URL: url };
  const pod = await startPod(t, settings);
  const get = async (path: string) => fetch(`${pod.admin}${path}`);
  const list = async <Key extends string>(path: string) =>
    (await (await get(path)).json()) as Readonly<Record<Key, readonly Row[]>> & { readonly [name: string]: unknown };
  const connect = async (params?: object) => {
    const socket = await openSocket(t, pod.url);
    socket.send({ type: 'connection_init', payload: params });
    await socket.next();
    return socket;
  };
  const ask = (query: string) =>
    fetch(pod.endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer hunter2' },
      body: JSON.stringify({ query }),
    });
  return { pod, get, list, connect, ask };
}

describe('/debug/operations', () => {
  it('names the operation that costs most by each column, without text, variables and tokens', async (t) => {
    const { pod, get, list, connect, ask } = await start(t);
    const socket = await connect({ token: 'hunter2' });
    for (const [i, query] of [CHEAP, SLOW, ASKING, CHEAP, CHEAP].entries()) socket.subscribe(String(i), query);
    await ask('query Failing { fails }');
    const first = async (by: string) => (await list<'operations'>(`/debug/operations?by=${by}`)).operations[0];
    const names = { execution_seconds: 'Slow', backend_requests: 'Asking', errors: 'Failing', subscriptions: 'Cheap' };
    for (const [by, name] of Object.entries(names))
      await pod.until(`${name} by ${by}`, async () => (await first(by))?.operation === name);
    const { operations } = await list<'operations'>('/debug/operations');
    const slow = operations.find(({ operation }) => operation === 'Slow')!;
    assert.equal(slow['document'], createHash('sha256').update(SLOW).digest('hex').slice(0, 12));
    assert.equal(slow['field'], 'tick');
    assert.equal(slow['subscriptions'], 1);
    for (const column of ['executions', 'deliveries', 'execution_seconds']) assert.ok(Number(slow[column]) > 0, column);
    assert.doesNotMatch(await (await get('/debug/operations?limit=100')).text(), /hunter2|\{ tick/);
    socket.close();
    await pod.until('no subscription', async () => (await first('subscriptions')) === undefined);
    assert.equal((await first('execution_seconds'))?.operation, 'Slow');
  });

  it('refuses an unknown column, and a limit out of bounds', async (t) => {
    const { get } = await start(t);
    for (const path of ['operations?by=cost', 'operations?limit=0', 'operations?limit=101', 'connections?by=address']) {
      const response = await get(`/debug/${path}`);
      assert.equal(response.status, 400, path);
      assert.match(await response.text(), /^(by|limit): expected /);
    }
  });
});

describe('/debug/connections', () => {
  it('names the connection that holds most, with its operations, and without its token', async (t) => {
    const { pod, get, list, connect } = await start(t);
    const [stalled, reading] = [await connect({ token: 'hunter2' }), await connect()];
    stalled.subscribe('1', LARGE);
    reading.subscribe('1', CHEAP);
    reading.subscribe('2', CHEAP);
    await reading.next();
    stalled.pause();
    const rows = async (by: string) => (await list<'connections'>(`/debug/connections?by=${by}`)).connections;
    await pod.until('queued bytes', async () => (await rows('queued_bytes')).length === 1);
    const [row] = await rows('queued_bytes');
    const document = createHash('sha256').update(LARGE).digest('hex').slice(0, 12);
    assert.deepEqual(row!['live'], [{ document, operation: 'Large', operations: 1 }]);
    assert.equal(row!['address'], '127.0.0.1');
    assert.match(String(row!['connection']), /^[0-9a-f-]{36}$/);
    const [busiest] = await rows('operations');
    assert.equal(busiest!['operations'], 2);
    assert.notEqual(busiest!['connection'], row!['connection']);
    assert.equal((await list<'connections'>('/debug/connections?limit=1&by=bytes_sent')).connections.length, 1);
    assert.doesNotMatch(await (await get('/debug/connections')).text(), /hunter2/);
    stalled.terminate();
  });
});
