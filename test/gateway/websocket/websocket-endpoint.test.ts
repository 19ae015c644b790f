import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket as TcpSocket } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createFacts, createRequest } from '../../../src/graph/context/connection-facts.ts';
import type { RequestSource } from '../../../src/graph/context/connection-facts.ts';
import { withoutToken } from '../../../src/gateway/identity/token-location.ts';
import { openSocket } from '../../support/socket.ts';
import { waitFor } from '../../support/wait-for.ts';
import { startBareGateway, UUID } from './bare-gateway.ts';

/** A peer that sends these bytes and then neither reads nor closes. */
async function sendRaw(t: TestContext, port: number, text: string): Promise<TcpSocket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).pause();
  socket.on('error', () => undefined);
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

describe('Gateway', () => {
  it('passes address, headers and an id of each connection to authenticate', async (t) => {
    const sources: RequestSource[] = [];
    const authenticate = (source: RequestSource) => Promise.resolve({ facts: { id: sources.push(source) } });
    const { url } = await startBareGateway(t, { authenticate });
    for (let i = 0; i < 2; i++) {
      const socket = await openSocket(t, url, { headers: { 'x-tenant': `${i}` } });
      await socket.init({ token: i });
    }
    for (const [i, { id, rawHeaders, address, params }] of sources.entries()) {
      assert.match(id, UUID);
      assert.equal(rawHeaders[rawHeaders.indexOf('x-tenant') + 1], `${i}`);
      assert.deepEqual([address, params], ['127.0.0.1', { token: i }]);
    }
    assert.notEqual(sources[0]!.id, sources[1]!.id);
  });

  it('passes no header of the handshake itself to authenticate', async (t) => {
    let rawHeaders: readonly string[] = [];
    const authenticate = (source: RequestSource) => {
      ({ rawHeaders } = source);
      return Promise.resolve({ facts: { id: source.id } });
    };
    const { url } = await startBareGateway(t, { authenticate });
    const socket = await openSocket(t, url, { headers: { 'User-Agent': 'upgrade', 'X-Upgrade': 'connection' } });
    await socket.init();
    assert.deepEqual(
      rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase()),
      ['user-agent', 'x-upgrade', 'host'],
    );
    assert.equal(rawHeaders[rawHeaders.indexOf('User-Agent') + 1], 'upgrade');
  });

  it('refuses an upgrade with 431 if its headers beside Authorization and Cookie have more than 8192 bytes', async (t) => {
    const { url, refusals, counts } = await startBareGateway(t);
    await assert.rejects(openSocket(t, url, { headers: { 'x-long': 'x'.repeat(8192) } }), /431/);
    const credentials = { authorization: 'x'.repeat(4000), cookie: 'x'.repeat(4000) };
    await (await openSocket(t, url, { headers: { 'x-long': 'x'.repeat(7500), ...credentials } })).init();
    assert.deepEqual([refusals, counts.opened], [['headers'], 1]);
  });

  it('closes with 4400 if the headers and params that it would keep have more than 8192 bytes together', async (t) => {
    const authenticate = (source: RequestSource) =>
      Promise.resolve({ facts: createFacts(createRequest(source), {}, withoutToken(source, '')) });
    const { url } = await startBareGateway(t, { authenticate });
    const open = (bytes: number) => openSocket(t, url, { headers: { 'x-long': 'x'.repeat(bytes) } });
    for (const [headers, params] of [
      [0, 8192],
      [4096, 4096],
    ] as const) {
      const socket = await open(headers);
      socket.send({ type: 'connection_init', payload: { other: 'x'.repeat(params) } });
      assert.deepEqual(await socket.expectClose(), {
        code: 4400,
        reason: 'Headers and connection_init may have 8192 bytes beside the token',
      });
    }
    await (await open(4096)).init({ token: 'x'.repeat(8192), other: 'x'.repeat(3000) });
  });

  it('refuses a connection of a user without room before it asks the graph', async (t) => {
    let questions = 0;
    const authenticate = ({ id }: RequestSource, admits: (token: { subject: string }) => boolean) => {
      if (!admits({ subject: 'ida' })) return Promise.resolve({ failure: 'denied' });
      questions++;
      return Promise.resolve({ facts: { id }, subject: 'ida' });
    };
    const { url, refusals } = await startBareGateway(t, { authenticate, maxConnectionsPerUser: 1 });
    await (await openSocket(t, url)).init();
    const socket = await openSocket(t, url);
    socket.send({ type: 'connection_init' });
    assert.equal((await socket.expectClose()).code, 1013);
    assert.deepEqual([questions, refusals], [1, ['user']]);
  });

  it('answers a ping with a longer token by an error, and verifies nothing', async (t) => {
    const refresh = () => assert.fail('verified');
    const { url } = await startBareGateway(t, { refresh });
    const socket = await openSocket(t, url);
    await socket.init();
    socket.send({ type: 'ping', payload: { token: 'x'.repeat(8192) } });
    const error = 'A ping with a token may have 8192 bytes';
    assert.deepEqual(await socket.next(), { type: 'pong', payload: { error } });
  });

  it('resolves every close() as soon as all clients have answered with 1001', { timeout: 30_000 }, async (t) => {
    const { gateway, url, closes, counts } = await startBareGateway(t, { drainTimeoutMs: 60_000 });
    const sockets = await Promise.all([openSocket(t, url), openSocket(t, url)]);
    const closing = gateway.close();
    assert.equal(gateway.close(), closing);
    await closing;
    for (const socket of sockets) {
      assert.deepEqual(await socket.expectClose(), { code: 1001, reason: 'The server is shutting down' });
    }
    assert.deepEqual([closes, counts.opened], [[1001, 1001], 2]);
  });

  it('closes connections that open during a drain with 1001', { timeout: 30_000 }, async (t) => {
    const { gateway, url } = await startBareGateway(t, { drainTimeoutMs: 60_000 });
    const silent = await openSocket(t, url);
    silent.pause();
    const closing = gateway.close();
    assert.equal((await (await openSocket(t, url)).expectClose()).code, 1001);
    silent.resume();
    await closing;
  });

  it('terminates a client that has not answered when the drain times out', async (t) => {
    const { gateway, url, closes } = await startBareGateway(t, { drainTimeoutMs: 50 });
    (await openSocket(t, url)).pause();
    await gateway.close();
    for (let turn = 0; turn < 10; turn++) await nextTurn();
    assert.deepEqual(closes, [1001], 'at once, before the close timeout of ws');
  });

  it('reports the close code of the side that closed first', async (t) => {
    const { url, closes } = await startBareGateway(t);
    const polite = await openSocket(t, url);
    polite.close(3999);
    await waitFor('the first close', () => closes.length === 1);
    const refused = await openSocket(t, url);
    refused.send('no JSON');
    refused.pause();
    await waitFor('the second close', () => closes.length === 2, 15_000);
    assert.deepEqual(closes, [3999, 4400], 'not 1006 for a peer that does not answer the close');
  });

  for (const [what, requestLine, reason] of [
    ['on another path', 'GET /elsewhere', 'path'],
    ['from a foreign Origin', 'GET /graphql', 'origin'],
    ['of another method', 'POST /graphql', 'origin'],
  ] as const) {
    it(`counts a refused handshake ${what} and destroys its socket, whatever its peer does`, async (t) => {
      const { port, openSockets, counts, refusals } = await startBareGateway(t);
      const handshake = [
        `${requestLine} HTTP/1.1`,
        'Host: 127.0.0.1',
        'Origin: https://evil.example',
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ].join('\r\n');
      await sendRaw(t, port, `${handshake}\r\n\r\n`);
      await sendRaw(t, port, `${handshake}\r\nContent-Length: 65536\r\n\r\n${'x'.repeat(65_536)}`);
      await sendRaw(t, port, `${handshake}\r\n\r\nGET /graphql?query={hello} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
      await waitFor('the refusals', () => refusals.length === 3);
      await waitFor('the sockets to be closed', async () => (await openSockets()) === 0);
      assert.deepEqual(refusals, [reason, reason, reason]);
      assert.equal(counts.opened, 0);
    });
  }
});
