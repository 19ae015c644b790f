import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { createClient } from 'graphql-sse';
import { request } from 'undici';
import { LiveEndpoint } from '../../../src/ops/live/live-endpoint.ts';
import type { LiveEndpointOptions } from '../../../src/ops/live/live-endpoint.ts';
import { StatsSampler } from '../../../src/ops/live/stats-sampler.ts';
import type { Figures } from '../../../src/ops/live/stats-reader.ts';
import { createLog } from '../../../src/base/log.ts';
import { startServer } from '../../../src/server.ts';
import { testConfig } from '../../support/switches.ts';
import { waitFor } from '../../support/wait-for.ts';

const TOKEN = 't'.repeat(32);
const FIGURES = 'subscription { crier_stats { pod status seconds deliveries_per_second sockets } }';
const QUERY = `?query=${encodeURIComponent(FIGURES)}`;

async function start(t: TestContext, settings: Readonly<Record<string, string>> = {}) {
  const config = testConfig({ HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0', POD_NAME: 'one', ...settings });
  const server = await startServer(config, createLog('silent'), { onFatal: (error) => assert.fail(error) });
  t.after(() => server.close());
  return { server, pod: `http://127.0.0.1:${server.port}`, admin: `http://127.0.0.1:${server.adminPort}` };
}

/** An endpoint alone, behind a server whose responses it collects. */
async function serve(t: TestContext, options: Pick<LiveEndpointOptions, 'sampler' | 'lookUp'>) {
  const { route } = new LiveEndpoint({ pod: 'one', ...options });
  const responses: ServerResponse[] = [];
  const server = createServer((received, response) => {
    responses.push(response);
    void route.handle(received, response, new URL(received.url!, 'http://live'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/live/graphql`, responses };
}

async function get(url: string, headers: Readonly<Record<string, string>> = {}, method: 'GET' | 'HEAD' = 'GET') {
  const { statusCode, headers: sent, body } = await request(url, { headers, method });
  if (sent['content-type']?.toString().startsWith('text/event-stream') && method === 'GET') {
    // A stream does not end: its head is enough.
    body.on('error', () => undefined).destroy();
    return { status: statusCode, text: 'stream', policy: '' };
  }
  return { status: statusCode, text: await body.text(), policy: String(sent['content-security-policy']) };
}

describe('crier_stats', () => {
  it("is a subscription that graphql-sse's client receives, of the admin port", async (t) => {
    const { admin } = await start(t, { ADMIN_TOKEN: TOKEN });
    const client = createClient({ url: `${admin}/live/graphql`, headers: { authorization: `Bearer ${TOKEN}` } });
    t.after(() => client.dispose());
    const received: unknown[] = [];
    for await (const result of client.iterate({ query: FIGURES })) {
      received.push(result.data?.['crier_stats']);
      if (received.length === 2) break;
    }
    const [first, second] = received as [object, { seconds: number }];
    assert.deepEqual(first, { pod: 'one', status: 'ready', seconds: null, deliveries_per_second: null, sockets: 0 });
    assert.ok(second.seconds > 0.5);
  });

  it('is for nobody without the token in production, and only the admin port has it', async (t) => {
    const { admin, pod } = await start(t, {
      NODE_ENV: 'production',
      EMBEDDED: 'true',
      GRAPHIQL: 'true',
      INTROSPECTION: 'true',
      ADMIN_TOKEN: TOKEN,
    });
    for (const path of [`/live/graphql${QUERY}`, '/live/graphql?query={pod}', '/live/graphql']) {
      const { status, text } = await get(`${admin}${path}`);
      assert.equal(status, 401);
      assert.doesNotMatch(text, /one|t{32}/);
      assert.equal((await get(`${admin}${path}`, { authorization: `Bearer ${'x'.repeat(32)}` })).status, 401);
      for (const authorization of ['', `Bearer ${TOKEN}`])
        assert.equal((await get(`${pod}${path}`, { authorization })).status, 404);
    }
    const authorization = `Bearer ${TOKEN}`;
    assert.equal((await get(`${admin}/live/graphql${QUERY}`, { authorization })).text, 'stream');
    assert.equal((await get(`${admin}/live/graphql?query={pod}`, { authorization })).text, '{"data":{"pod":"one"}}\n');
    assert.equal((await get(`${pod}/live`)).status, 404);
    // The page itself tells nothing.
    const page = await get(`${admin}/live`);
    assert.equal(page.status, 200);
    assert.doesNotMatch(page.text, /one|auction/);
    assert.match(page.policy, /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';/);
  });

  it('is nowhere where there is no token and the admin port does not listen on a loopback address', async (t) => {
    const { admin } = await start(t, { ADMIN_HOST: '0.0.0.0' });
    const { status, text } = await get(`${admin}/live/graphql${QUERY}`);
    assert.equal(status, 403);
    assert.match(text, /set ADMIN_TOKEN/);
  });

  it("is on the graph's port in development, behind the token if there is one, and never in the graph's schema", async (t) => {
    const { pod } = await start(t);
    assert.equal((await get(`${pod}/live`)).status, 200);
    assert.equal((await get(`${pod}/live/graphql${QUERY}`)).text, 'stream');
    assert.equal((await get(`${pod}/live/graphql${QUERY}`, {}, 'HEAD')).status, 200);
    const names = await get(`${pod}/graphql?query={__schema{subscriptionType{fields{name}}types{name}}}`, {
      'content-type': 'application/json',
    });
    assert.match(names.text, /auction_updated/);
    assert.doesNotMatch(names.text, /crier/i);
    const locked = await start(t, { ADMIN_TOKEN: TOKEN });
    assert.equal((await get(`${locked.pod}/live/graphql${QUERY}`)).status, 401);
    const off = await start(t, { GRAPHIQL: 'false' });
    assert.equal((await get(`${off.pod}/live/graphql${QUERY}`)).status, 404);
  });

  it('is refused to pages of others: another origin, another site, a name that was pointed here', async (t) => {
    const { pod, admin } = await start(t);
    for (const base of [pod, admin]) {
      for (const headers of [
        { origin: 'https://evil.example' },
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { host: 'evil.example' },
      ])
        assert.equal((await get(`${base}/live/graphql${QUERY}`, headers)).status, 403, JSON.stringify(headers));
    }
    assert.equal((await get(`${pod}/live/graphql${QUERY}`, { 'sec-fetch-site': 'same-origin' })).text, 'stream');
  });

  it('says what is expected of a request that has no document, a wrong one or a large one', async (t) => {
    const { admin } = await start(t);
    const missing = await get(`${admin}/live/graphql`);
    assert.equal(missing.status, 400);
    assert.match(missing.text, /\?query=subscription\{crier_stats/);
    const wrong = await get(`${admin}/live/graphql?query=subscription{crier_stats{pot}}`);
    assert.equal(wrong.status, 400);
    assert.match(wrong.text, /Cannot query field \\"pot\\"/);
    const large = await get(`${admin}/live/graphql?query={${'pod,'.repeat(1000)}}`);
    assert.match(large.text, /tokens/);
  });

  it('refuses the 51st stream without validating it, and answers other requests', async (t) => {
    const { admin } = await start(t);
    const open = Array.from({ length: 50 }, () => request(`${admin}/live/graphql${QUERY}`));
    const bodies = (await Promise.all(open)).map(({ body }) => body.on('error', () => undefined));
    for (const fields of ['pod', 'pot']) {
      const { status, text } = await get(`${admin}/live/graphql?query=subscription{crier_stats{${fields}}}`);
      assert.equal(status, 503);
      assert.equal(text, '50 streams of figures are open: close one\n');
    }
    assert.equal((await get(`${admin}/live/graphql?query={pod}`)).status, 200);
    bodies[0]!.destroy();
    const reopened = async () => (await get(`${admin}/live/graphql${QUERY}`)).text === 'stream';
    await waitFor('room for a stream', reopened);
    for (const body of bodies) body.destroy();
  });

  it('completes its streams on both ports when the pod closes, before a server waits for its replies', async (t) => {
    const { server, admin, pod } = await start(t);
    const texts: Promise<string>[] = [];
    for (const base of [admin, pod]) {
      const { body } = await request(`${base}/live/graphql${QUERY}`);
      // A server that has waited in vain cuts the stream off instead.
      texts.push(body.text());
    }
    await server.close();
    for (const text of await Promise.all(texts)) assert.match(text, /event: complete\ndata:\n\n$/);
  });

  it('cuts off a watcher that does not read when the pod closes', { timeout: 20_000 }, async (t) => {
    const figures = { pod: 'x'.repeat(16 * 1024 * 1024) } as Figures;
    const reader = { read: () => Promise.resolve(figures) };
    const sampler = new StatsSampler(reader, (error) => assert.fail(error), { watchedMs: 5 });
    const { url, responses } = await serve(t, { sampler, lookUp: () => Promise.resolve(null) });
    const { body } = await request(`${url}?query=subscription{crier_stats{pod}}`);
    body.on('error', () => undefined);
    const response = await waitFor('a full socket', () =>
      Promise.resolve(responses.find(({ writableNeedDrain }) => writableNeedDrain)),
    );
    const closed = once(response, 'close');
    await sampler.close();
    await closed;
  });
});

describe('crier_operation', () => {
  it('and each other field of a query is in a document once, under whatever alias and in whatever fragment', async (t) => {
    const { admin } = await start(t);
    for (const [query, field] of [
      [
        '{a:crier_operation(document:"",operation:""){text} b:crier_operation(document:"",operation:""){text}}',
        'crier_operation',
      ],
      [
        '{...A crier_operation(document:"",operation:""){text}} fragment A on Query {a:crier_operation(document:"",operation:""){text}}',
        'crier_operation',
      ],
      ['{crier_stats_history{pod} a:crier_stats_history{pod}}', 'crier_stats_history'],
    ] as const) {
      const { status, text } = await get(`${admin}/live/graphql?${String(new URLSearchParams({ query }))}`);
      assert.equal(status, 400);
      assert.ok(text.includes(`"${field} is in this document twice: send a request for each"`), text);
    }
    const query = '{pod crier_operation(document:"",operation:""){text} crier_stats_history{pod a:pod}}';
    assert.equal((await get(`${admin}/live/graphql?${String(new URLSearchParams({ query }))}`)).status, 200);
  });

  it('ends when its caller leaves', async (t) => {
    const sampler = new StatsSampler({ read: () => Promise.reject(new Error('unused')) }, () => undefined);
    let asked: AbortSignal | undefined;
    const lookUp: LiveEndpointOptions['lookUp'] = (_name, signal) => {
      asked = signal;
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('gone'))));
    };
    const { url } = await serve(t, { sampler, lookUp });
    const leaving = new AbortController();
    const query = '{crier_operation(document:"",operation:""){text}}';
    const reply = request(`${url}?${String(new URLSearchParams({ query }))}`, { signal: leaving.signal });
    const signal = await waitFor('the lookup', () => Promise.resolve(asked));
    assert.equal(signal.aborted, false);
    leaving.abort();
    await assert.rejects(reply);
    await waitFor('its end', () => Promise.resolve(signal.aborted));
  });
});
