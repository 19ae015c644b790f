import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { waitFor } from '../support/wait-for.ts';
import { HOST, follow, openHttp2, openWebSocketOverHttp2, send } from './outside.ts';
import { QUIET, TICKS, startPods } from './pods.ts';
import { installProxies, startProxy } from './proxies.ts';
import type { Replacements } from './proxies.ts';

const SSE = { headers: { accept: 'text/event-stream' } };
const UPGRADE = {
  path: '/graphql',
  headers: {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    'sec-websocket-protocol': 'graphql-transport-ws',
  },
};
const TYPENAME = { query: '{ __typename }' };
const PATIENCE_MS = 30_000;

before(installProxies);

describe('a mistake in nginx.conf of docs/operate/proxies.md', { concurrency: 3, timeout: 240_000 }, () => {
  const REFUSED: readonly [
    mistake: string,
    edits: Replacements,
    request: Parameters<typeof send>[2],
    status: number,
  ][] = [
    [
      'no Upgrade',
      [
        ['proxy_set_header Upgrade $http_upgrade;', ''],
        ['proxy_set_header Connection $connection_upgrade;', ''],
      ],
      UPGRADE,
      400,
    ],
    ['no Host', [['proxy_set_header Host $host;', '']], { body: TYPENAME }, 421],
  ];
  for (const [mistake, edits, request, status] of REFUSED) {
    it(`is answered with ${status} by crier: ${mistake}`, async (t) => {
      const { port } = await startProxy(t, 'nginx', await startPods(t), edits);
      const reply = await send(t, port, request);
      assert.equal(reply.status, status);
    });
  }

  it('holds events back until a buffer is full: x-accel-buffering is ignored', async (t) => {
    const edits: Replacements = [['proxy_read_timeout 60s;', 'proxy_ignore_headers X-Accel-Buffering;']];
    const { port } = await startProxy(t, 'nginx', await startPods(t), edits);
    const sse = await send(t, port, { body: { query: TICKS }, ...SSE });
    await waitFor('a block', () => sse.text.length > 0, PATIENCE_MS);
    assert.ok(sse.text.length > 3000, `${sse.text.length} characters`);
  });
});

describe('a request that is too large for nginx or for crier', { timeout: 120_000 }, () => {
  const LARGE: readonly [what: string, request: Parameters<typeof send>[2], status: number, from: RegExp][] = [
    ['a request line of more than 8 KB', { path: `/graphql?query=${'x'.repeat(8200)}` }, 414, /nginx/],
    ['a header of more than 8 KB', { body: TYPENAME, headers: { cookie: 'x'.repeat(8200) } }, 400, /nginx/],
    [
      'headers of more than 16 KB',
      { body: TYPENAME, headers: { a: 'x'.repeat(8000), b: 'x'.repeat(8000), c: 'x'.repeat(1000) } },
      431,
      /^$/,
    ],
    ['a body of more than a megabyte', { body: { query: 'x'.repeat(1_100_000) } }, 413, /nginx/],
    ['a body of more than MAX_MESSAGE_BYTES', { body: { query: 'x'.repeat(70_000) } }, 413, /MAX_MESSAGE_BYTES/],
  ];
  it('is answered with a status that names the limit', async (t) => {
    const { port } = await startProxy(t, 'nginx', await startPods(t));
    for (const [what, request, status, from] of LARGE) {
      const reply = await send(t, port, request);
      await waitFor('the reply', () => reply.isEnded);
      assert.equal(reply.status, status, what);
      assert.match(reply.text, from, what);
    }
  });
});

describe('nginx that reloads its configuration', { concurrency: 2, timeout: 120_000 }, () => {
  const reloaded = async (t: TestContext, edits: Replacements = []) => {
    const proxy = await startProxy(t, 'nginx', await startPods(t), edits);
    const live = follow(t, proxy.port, TICKS);
    await waitFor('an event', () => live.results.length > 0);
    proxy.process.kill('SIGHUP');
    return { ...proxy, live };
  };

  it('keeps open WebSockets, and accepts new ones', async (t) => {
    const { port, live } = await reloaded(t);
    const next = follow(t, port, TICKS);
    await waitFor('events of both', () => next.results.length > 20 && live.results.length > 50, PATIENCE_MS);
    assert.deepEqual([live.connections, live.closeCodes], [1, []]);
  });

  it('cuts those that are open after worker_shutdown_timeout with 1006, and their clients connect again', async (t) => {
    const { live } = await reloaded(t, [['worker_shutdown_timeout 60s;', 'worker_shutdown_timeout 1s;']]);
    await waitFor('the next connection', () => live.connections === 2, PATIENCE_MS);
    assert.deepEqual(live.closeCodes, [1006]);
  });
});

describe('the minute of the page against the 12 s of crier', { concurrency: 3, timeout: 240_000 }, () => {
  for (const name of ['nginx', 'envoy', 'haproxy'] as const) {
    it(`is never reached by an idle WebSocket or stream behind ${name}`, async (t) => {
      const { port } = await startProxy(t, name, await startPods(t));
      const quiet = follow(t, port, QUIET);
      const sse = await send(t, port, { body: { query: QUIET }, ...SSE });
      await waitFor('six pings', () => quiet.pings >= 6 && sse.text.split(':\n\n').length > 7, 120_000);
      assert.deepEqual([quiet.connections, quiet.closeCodes, sse.isEnded], [1, [], false]);
    });
  }
});

describe('Envoy', { concurrency: 3, timeout: 120_000 }, () => {
  it('ends a stream after the timeout of its route, unless that is 0s (twin)', async (t) => {
    const { port } = await startProxy(t, 'envoy', await startPods(t), [['timeout: 0s', 'timeout: 1s']]);
    const [live, sse] = [follow(t, port, TICKS), await send(t, port, { body: { query: TICKS }, ...SSE })];
    await waitFor('the end of the stream', () => sse.isEnded, PATIENCE_MS);
    assert.ok(live.results.length > 0);
  });

  it('answers an upgrade with 403 without upgrade_configs (twin)', async (t) => {
    const edits: Replacements = [['upgrade_configs: [{ upgrade_type: websocket }]', '']];
    const { port } = await startProxy(t, 'envoy', await startPods(t), edits);
    assert.equal((await send(t, port, UPGRADE)).status, 403);
  });

  it('refuses a WebSocket over HTTP/2 with 400 with allow_connect, which browsers would then open (twin)', async (t) => {
    const pods = await startPods(t);
    const { port } = await startProxy(t, 'envoy', pods);
    assert.ok(!(await openHttp2(t, port)).remoteSettings.enableConnectProtocol);
    const edits: Replacements = [['use_remote_address: true', 'http2_protocol_options: { allow_connect: true }']];
    const inviting = await startProxy(t, 'envoy', pods, edits);
    const session = await openHttp2(t, inviting.port);
    assert.ok(session.remoteSettings.enableConnectProtocol);
    const reply = await openWebSocketOverHttp2(session, HOST);
    await waitFor('the reply', () => reply.isEnded);
    assert.deepEqual([reply.status, reply.text], [400, 'Missing or invalid Sec-WebSocket-Key header']);
  });
});
