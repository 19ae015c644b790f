import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readlink } from 'node:fs/promises';
import { createServer, request as sendRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { buildSchema } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { SignJWT } from 'jose';
import { request as httpRequest } from 'undici';
import { WebSocketServer } from 'ws';
import { createGraphiql } from '../../../src/gateway/http/graphiql.ts';
import { createLog } from '../../../src/base/log.ts';
import { startServer } from '../../../src/server.ts';
import { violations } from '../../support/axe.ts';
import { inEachLook, screenshot } from '../../support/browser.ts';
import { waitFor } from '../../support/wait-for.ts';
import { openGraphiql } from './graphiql-page.ts';
import { testConfig } from '../../support/switches.ts';

const OPERATION = `subscription Ticks {
  tick(from: 1) {
    number
    text
  }
}`;

/** GraphiQL's own parts, which nothing here can change: axe is asked about the page around them. */
const GRAPHIQL = '.graphiql-container';

const SOURCES = { fields: { tick: { topic: 'ticks' } }, records: { brokers: [] } };

const schema = buildSchema(`
  type Tick { number: Int!, text: String! }
  type Query { greeting: String! }
  type Subscription { tick(from: Int!): Tick! }
`);

/** A server with nothing but GraphiQL and a subscription that ticks every 50 ms. */
async function tickingServer(t: TestContext, title = 'ticks') {
  const handleGraphiql = createGraphiql({ operation: OPERATION, title, sources: SOURCES, hasLive: true });
  const state = { live: 0, params: [] as unknown[] };
  async function* ticks({ from }: { from: number }) {
    state.live++;
    try {
      for (let number = from; ; number++) {
        yield { tick: { number, text: `tick ${number}` } };
        await delay(50);
      }
    } finally {
      state.live--;
    }
  }
  const server = createServer((request, response) => {
    if (!handleGraphiql(request, response)) response.writeHead(404).end('not GraphiQL');
  });
  const sockets = new WebSocketServer({ server, path: '/graphql' });
  const graphql = useServer(
    {
      schema,
      roots: { query: { greeting: () => 'hello' }, subscription: { tick: ticks } },
      onConnect: ({ connectionParams }) => {
        state.params.push(connectionParams);
        return connectionParams?.['token'] !== 'refused';
      },
    },
    sockets,
  );
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(async () => {
    await graphql.dispose();
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, state };
}

/** Sends the path unchanged. undici and fetch would resolve its dots. */
async function statusOf(url: string, method: string, path: string): Promise<number | undefined> {
  const request = sendRequest(url, { method, path, headers: HTML }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

describe('GraphiQL in a browser', () => {
  it('shows live events of the prepared subscription when the button is pressed, and stops at the next press', async (t) => {
    const { url, state } = await tickingServer(t);
    const graphiql = await openGraphiql(t, url);
    assert.equal((await graphiql.operation()).trimEnd(), OPERATION);

    await graphiql.pressRun();
    const first = await graphiql.waitForEvent((result) => /"text": "tick \d+"/.test(result));
    await graphiql.waitForEvent((result) => result !== first && /"text": "tick \d+"/.test(result));
    assert.equal(await graphiql.isRunning(), true);

    await graphiql.pressRun();
    await waitFor('the subscription to end on the server', () => state.live === 0);
    assert.equal(await graphiql.isRunning(), false);
    assert.deepEqual(graphiql.complaints, []);
  });

  it('lists the last events, pauses while one is read, is accessible, and is cleared', async (t) => {
    const { url } = await tickingServer(t);
    const graphiql = await openGraphiql(t, url);
    const { page } = graphiql;
    const events = page.locator('#events');
    assert.equal(await events.isVisible(), false);
    await graphiql.pressRun();
    await graphiql.waitForEvent((result) => result.includes('tick'));
    const lines = events.locator('li summary');
    await waitFor('three events', async () => (await lines.count()) >= 3);
    assert.match(
      await lines.last().innerText(),
      /^\d\d:\d\d:\d\d\.\d{3}\s+\{"data":\{"tick":\{"number":1,"text":"tick 1"\}\}\}$/,
    );
    const rate = events.locator('.rate');
    await waitFor('a rate', async () => /^\d+ events, [1-9]\d*(\.\d)? a second$/.test(await rate.innerText()));
    await lines.last().click();
    assert.match(await events.locator('pre').innerText(), /"text": "tick 1"/);
    const resume = events.getByRole('button', { name: /Resume \(\d+ waiting\)/ });
    await resume.waitFor();
    const count = await lines.count();
    await events.getByRole('button', { name: /Resume \([1-9]\d* waiting\)/ }).waitFor();
    assert.equal(await lines.count(), count);
    await inEachLook(page, async (look) => {
      await screenshot(page, `graphiql-paused-${look}`);
      assert.deepEqual(await violations(page, [GRAPHIQL]), [], look);
    });
    await resume.click();
    await waitFor('those that waited', async () => (await lines.count()) > count);
    await graphiql.pressRun();
    await events.getByRole('button', { name: 'Clear' }).click();
    await waitFor('no event', async () => (await lines.count()) === 0);
    assert.equal(await page.getByRole('link', { name: 'Live figures' }).getAttribute('href'), 'live');
    assert.deepEqual(graphiql.complaints, []);
  });

  it('sends requests to its own origin only', async (t) => {
    const { url } = await tickingServer(t);
    const graphiql = await openGraphiql(t, url);
    await graphiql.pressRun();
    await graphiql.waitForEvent((result) => result.includes('tick'));
    const host = new URL(url).host;
    assert.ok(graphiql.requests.includes(`ws://${host}/graphql`));
    assert.deepEqual(
      graphiql.requests.filter((address) => !address.startsWith('data:') && new URL(address).host !== host),
      [],
    );
  });

  it('has the colours of GraphiQL in the line below it, by the setting of the system and by its own', async (t) => {
    const { url } = await tickingServer(t);
    for (const scheme of ['light', 'dark'] as const) {
      const { page } = await openGraphiql(t, url, 400, scheme);
      await screenshot(page, `graphiql-400-${scheme}`);
      const backgrounds = () =>
        page.evaluate<string[]>(
          `['footer', '.graphiql-container'].map((one) => getComputedStyle(document.querySelector(one)).backgroundColor)`,
        );
      const [own, graphiql] = await backgrounds();
      assert.equal(own, graphiql, scheme);
      await page.evaluate(`document.body.classList.add('graphiql-${scheme === 'light' ? 'dark' : 'light'}')`);
      const [ownOther, graphiqlOther] = await backgrounds();
      assert.notEqual(ownOther, own);
      assert.equal(ownOther, graphiqlOther, `the other than ${scheme}`);
    }
  });

  it('answers a query over the socket', async (t) => {
    const { url } = await tickingServer(t);
    const graphiql = await openGraphiql(t, url);
    await graphiql.type('query Greeting { greeting }');
    await graphiql.pressRun();
    await graphiql.waitForEvent((result) => result.includes('"greeting": "hello"'));
    assert.deepEqual(graphiql.complaints, []);
  });

  it('sends the Headers editor as connection_init payload, and shows why a socket was closed', async (t) => {
    const { url, state } = await tickingServer(t);
    const graphiql = await openGraphiql(t, url);
    await graphiql.typeHeaders('{ "token": "refused" }');
    await graphiql.pressRun();
    await graphiql.waitForEvent((result) => result.includes('the socket was closed: 4403 Forbidden'));
    assert.deepEqual(state.params.at(-1), { token: 'refused' });
  });
});

describe('GraphiQL of crier', () => {
  it('shows live events of the auction graph when the button is pressed, and its schema', async (t) => {
    const config = testConfig({ HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0', SAMPLE_INTERVAL_MS: '100' });
    const server = await startServer(config, createLog('silent'), { onFatal: (error) => assert.fail(error) });
    t.after(() => server.close());
    const graphiql = await openGraphiql(t, `http://127.0.0.1:${server.port}/`);
    assert.match(await graphiql.operation(), /^subscription WatchAuction \{/);
    await graphiql.pressRun();
    const first = await graphiql.waitForEvent((result) => /"current_bid": \d+[^]*"name": "\w/.test(result));
    await graphiql.waitForEvent((result) => result !== first && result.includes('"current_bid"'));
    assert.doesNotMatch(await graphiql.result(), /errors/);
    await screenshot(graphiql.page, 'graphiql-events');

    await graphiql.page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    await graphiql.page.getByRole('link', { name: 'Subscription' }).click();
    await graphiql.page.locator('.graphiql-doc-explorer').getByText('auctions_updated').waitFor();
    await screenshot(graphiql.page, 'graphiql-schema');
    assert.deepEqual(graphiql.complaints, []);
  });
});

describe('GraphiQL of a crier that needs a token', () => {
  it('asks for the token, and shows events and the schema once the Headers editor has it', async (t) => {
    const secret = 'x'.repeat(32);
    const settings = { PORT: '0', ADMIN_PORT: '0', SAMPLE_INTERVAL_MS: '100', JWT_SECRET: secret };
    const server = await startServer(testConfig({ HOST: '127.0.0.1', ...settings }), createLog('silent'), {
      onFatal: (error) => assert.fail(error),
    });
    t.after(() => server.close());
    const graphiql = await openGraphiql(t, `http://127.0.0.1:${server.port}/`);
    await graphiql.waitForEvent((result) => /4403 Token\s+missing[^]*Headers/.test(result));
    await screenshot(graphiql.page, 'graphiql-without-token');

    const token = await new SignJWT({ sub: 'ida' })
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime('1h')
      .sign(Buffer.from(secret));
    await graphiql.typeHeaders(JSON.stringify({ token }));
    await graphiql.pressRun();
    await graphiql.waitForEvent((result) => /"current_bid": \d+/.test(result));
    await graphiql.page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    await graphiql.page.getByRole('link', { name: 'Subscription' }).click();
    await graphiql.page.locator('.graphiql-doc-explorer').getByText('auctions_updated').waitFor();
    await screenshot(graphiql.page, 'graphiql-with-token');
  });
});

describe('createGraphiql', () => {
  it('serves the page only to clients that accept text/html', async (t) => {
    const { url } = await tickingServer(t);
    const page = await httpRequest(url, { headers: HTML });
    assert.equal(page.statusCode, 200);
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
    await page.body.dump();
    const other = await httpRequest(url, { headers: { accept: 'application/json' } });
    assert.equal(other.statusCode, 404);
    assert.equal(await other.body.text(), 'not GraphiQL');
  });

  it('allows scripts of its own origin only, and no inline script', async (t) => {
    const { url } = await tickingServer(t);
    const page = await httpRequest(url, { headers: HTML });
    const policy = String(page.headers['content-security-policy']);
    assert.match(policy, /default-src 'self';/);
    assert.doesNotMatch(policy, /script-src|unsafe-eval/);
    const scripts = (await page.body.text()).match(/<script[^>]*>/g) ?? [];
    assert.deepEqual(
      scripts.filter((script) => !/ src="graphiql\//.test(script)),
      ['<script type="application/json" id="settings">'],
    );
  });

  it('lets neither the title nor the operation break out of the page', async (t) => {
    const { url } = await tickingServer(t, '</title><script>alert(1)</script>');
    const page = await httpRequest(url, { headers: HTML });
    assert.doesNotMatch(await page.body.text(), /<script>/);
    const handler = createGraphiql({
      operation: '{ a(b: "</script><script>alert(1)</script>") }',
      title: '',
      sources: {},
      hasLive: false,
    });
    let body = '';
    const response = { writeHead: () => response, end: (chunk: Buffer) => (body = chunk.toString()) };
    handler({ method: 'GET', url: '/', headers: HTML } as unknown as IncomingMessage, response as never);
    assert.doesNotMatch(body, /<script>/);
    assert.match(body, /\\u003c\/script>\\u003cscript>alert/);
  });

  it('serves compressed assets to clients that accept gzip, and uncompressed ones to others', async (t) => {
    const { url } = await tickingServer(t);
    const plain = await httpRequest(`${url}graphiql/graphiql.js`);
    const packed = await httpRequest(`${url}graphiql/graphiql.js`, { headers: { 'accept-encoding': 'gzip, br' } });
    assert.equal(packed.headers['content-encoding'], 'gzip');
    assert.equal(packed.headers['content-type'], 'text/javascript; charset=utf-8');
    const bytes = Buffer.from(await packed.body.arrayBuffer());
    assert.equal(Number(packed.headers['content-length']), bytes.byteLength);
    assert.equal(gunzipSync(bytes).toString(), await plain.body.text());
    assert.equal(plain.headers['content-encoding'], undefined);
  });

  it('answers 304 if the client has the asset', async (t) => {
    const { url } = await tickingServer(t);
    const first = await httpRequest(`${url}graphiql/graphiql.js`);
    await first.body.dump();
    const again = await httpRequest(`${url}graphiql/graphiql.js`, {
      headers: { 'if-none-match': String(first.headers.etag) },
    });
    assert.equal(again.statusCode, 304);
    assert.equal(await again.body.text(), '');
  });

  it('keeps no file open for a client that requests assets and does not read', async (t) => {
    const { url } = await tickingServer(t);
    const openAssets = async () => {
      const files = await Promise.all(
        (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
      );
      return files.filter((path) => path.endsWith('graphiql.js.gz')).length;
    };
    // 20 MB, more than the kernel buffers for a socket that is not read.
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    t.after(() => socket.destroy());
    socket.write('GET /graphiql/graphiql.js HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(20));
    await once(socket, 'readable');
    await waitFor('all files to be closed', async () => (await openAssets()) === 0);
  });

  it('leaves every other request alone', async (t) => {
    const { url } = await tickingServer(t);
    for (const [method, path] of [
      ['POST', '/'],
      ['GET', '/graphql'],
      ['GET', '/graphiql/'],
      ['GET', '/graphiql/../graphiql.ts'],
      ['GET', '/graphiql/..%2f..%2fmain.js'],
      ['GET', '/graphiql/constructor'],
    ] as const) {
      assert.equal(await statusOf(url, method, path), 404, `${method} ${path}`);
    }
  });
});
