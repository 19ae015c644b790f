import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { waitFor } from '../support/wait-for.ts';
import { CLIENT_ADDRESS, follow, openHttp2, openHttp2Stream, send } from './outside.ts';
import { QUIET, TICKS, startPods } from './pods.ts';
import { PROXY_NAMES, installProxies, startProxy } from './proxies.ts';
import type { ProxyName, Replacements } from './proxies.ts';

/** The idle timeout of each proxy, from the minute of the page to two seconds, for which a busy machine does not hold up a ping. */
const SHORT: Record<ProxyName, Replacements> = {
  nginx: [['proxy_read_timeout 60s;', 'proxy_read_timeout 2s;']],
  envoy: [['stream_idle_timeout: 60s', 'stream_idle_timeout: 2s']],
  haproxy: [
    ['timeout tunnel 60s', 'timeout tunnel 2s'],
    ['timeout server 60s', 'timeout server 2s'],
    ['timeout client 60s', 'timeout client 2s'],
  ],
};
/** At three a second: for three idle timeouts. */
const PINGS = 20;
const PATIENCE_MS = 30_000;
const PART = '\\r\\n--[0-9a-f]+\\r\\ncontent-type: application/json\\r\\n\\r\\n';
const SSE = { headers: { accept: 'text/event-stream' } };
const MULTIPART = { headers: { accept: 'multipart/mixed;subscriptionSpec=1.0, application/json' } };

before(installProxies);

for (const name of PROXY_NAMES) {
  describe(
    `crier behind ${name}, as docs/operate/proxies.md configures it`,
    { concurrency: 3, timeout: 240_000 },
    () => {
      it('keeps an idle WebSocket that crier pings more often than the idle timeout', async (t) => {
        const { port } = await startProxy(t, name, await startPods(t, { PING_INTERVAL_MS: '333' }), SHORT[name]);
        const quiet = follow(t, port, QUIET);
        await waitFor('pings', () => quiet.pings >= PINGS, PATIENCE_MS);
        assert.deepEqual([quiet.connections, quiet.closeCodes], [1, []]);
      });

      it('loses an idle WebSocket that crier pings too seldom, with 1006 (twin)', async (t) => {
        const { port } = await startProxy(t, name, await startPods(t, { PING_INTERVAL_MS: '60000' }), SHORT[name]);
        const quiet = follow(t, port, QUIET);
        await waitFor('the close', () => quiet.closeCodes.length > 0, PATIENCE_MS);
        assert.equal(quiet.closeCodes[0], 1006);
        await waitFor('the next connection', () => quiet.connections > 1, PATIENCE_MS);
      });

      it('keeps idle streams for three idle timeouts, and delivers their comments at once', async (t) => {
        const { port } = await startProxy(t, name, await startPods(t, { PING_INTERVAL_MS: '333' }), SHORT[name]);
        const sse = await send(t, port, { body: { query: QUIET }, ...SSE });
        const multipart = await send(t, port, { body: { query: QUIET }, ...MULTIPART });
        assert.deepEqual([sse.status, multipart.status], [200, 200]);
        await waitFor('comments', () => sse.text.split(':\n\n').length > PINGS, PATIENCE_MS);
        await waitFor('empty parts', () => multipart.text.split('{}').length > PINGS, PATIENCE_MS);
        assert.deepEqual([sse.isEnded, multipart.isEnded], [false, false]);
      });

      it('delivers events of streams one by one', async (t) => {
        const { port } = await startProxy(t, name, await startPods(t));
        const sse = await send(t, port, { body: { query: TICKS }, ...SSE });
        const multipart = await send(t, port, { body: { query: TICKS }, ...MULTIPART });
        // Less than any buffer of these proxies holds.
        await waitFor('one event', () => sse.text.includes('"n":') && sse.text.length < 1000);
        await waitFor('one part', () => multipart.text.includes('"n":') && multipart.text.length < 1000);
        assert.match(sse.text, /^(:\n\n)+event: next\ndata: \{"data":\{"tick":\{"n":\d+\}\}/);
        // A ping may precede the first event: a comment, an empty part.
        assert.match(multipart.text, new RegExp(`^(${PART}\\{\\})*${PART}\\{"payload":\\{"data"`));
      });

      it('serves more than the six streams of a browser on one HTTP/2 connection', async (t) => {
        const { port } = await startProxy(t, name, await startPods(t));
        const session = await openHttp2(t, port);
        const streams = await Promise.all(Array.from({ length: 20 }, () => openHttp2Stream(session, TICKS)));
        for (const stream of streams) {
          assert.equal(stream.status, 200);
          await waitFor('an event', () => stream.text.includes('"n":'));
        }
      });

      it('names the client to crier, whatever X-Forwarded-For the client sends', async (t) => {
        const { port } = await startProxy(t, name, await startPods(t));
        const reply = await send(t, port, {
          body: { query: '{ address }' },
          headers: { 'x-forwarded-for': '203.0.113.9' },
        });
        await waitFor('the reply', () => reply.isEnded);
        assert.deepEqual(JSON.parse(reply.text), { data: { address: CLIENT_ADDRESS } });
      });

      it('moves the clients of a pod that drains to the other one', async (t) => {
        const pods = await startPods(t, { DRAIN_DELAY_MS: '3000' });
        const { port } = await startProxy(t, name, pods);
        const clients = Array.from({ length: 10 }, () => follow(t, port, TICKS));
        for (const client of clients) await waitFor('an event', () => client.results.length > 0, PATIENCE_MS);
        assert.equal(await pods[0].stop(), 0);
        await waitFor(
          'all of them at the other pod',
          async () => (await pods[1].metric('crier_subscriptions')) === 10,
          PATIENCE_MS,
        );
        for (const client of clients) {
          const before = client.results.length;
          await waitFor('an event of the other pod', () => client.results.length > before, PATIENCE_MS);
          assert.equal(client.error, undefined);
          assert.deepEqual(new Set([...client.closeCodes, 1001]), new Set([1001]));
        }
        assert.ok(clients.some(({ closeCodes }) => closeCodes.length > 0));
      });
    },
  );
}
