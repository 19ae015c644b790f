import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { Backends } from '../../../src/graph/context/backends.ts';
import { SampleBackends } from '../../../src/graph/embedded/sample-backends.ts';

async function sampleBackends(t: TestContext, respond: SampleBackends['respond']) {
  const server = new SampleBackends({ log: pino({ enabled: false }) });
  server.respond = respond;
  const config = await server.urlsOf(['venue', 'onlineAuction']);
  const backends = new Backends({ backends: config, maxSockets: () => 2, timeoutMs: 30_000 });
  t.after(async () => {
    await backends.close();
    await server.close();
    await server.close();
  });
  const send = async (name: string, method: 'GET' | 'POST', path: string, value?: unknown) => {
    const body = value === undefined ? undefined : JSON.stringify(value);
    return (await backends.send(name, { method, path, body, callerHeader: () => 'Bearer caller' })).body;
  };
  return { config, send };
}

describe('SampleBackends', () => {
  it('serves each backend at a base URL of its own', async (t) => {
    const { config, send } = await sampleBackends(t, (backend, request) => ({ backend, ...request }));
    assert.deepEqual([...config.keys()], ['VENUE', 'ONLINE_AUCTION']);
    assert.deepEqual(await send('venue', 'GET', '/venues/1?full=true'), {
      backend: 'venue',
      method: 'GET',
      path: '/venues/1?full=true',
    });
    assert.deepEqual(await send('onlineAuction', 'POST', '/batch', { ids: [1] }), {
      backend: 'onlineAuction',
      method: 'POST',
      path: '/batch',
      body: { ids: [1] },
    });
  });

  it('responds with 404 for undefined, and with any other JSON value as the body', async (t) => {
    const { send } = await sampleBackends(t, (_, { path }) => (path === '/null' ? null : undefined));
    assert.equal(await send('venue', 'GET', '/null'), null);
    await assert.rejects(send('venue', 'POST', '/gone'), {
      backend: 'venue',
      status: 404,
      extensions: { code: 'BACKEND_ERROR' },
    });
  });

  it('responds with 500 if the samples throw or the request is too large, and serves the next request', async (t) => {
    const { send } = await sampleBackends(t, (_, { path }) => {
      if (path === '/bad') throw new Error('broken samples');
      return 'fine';
    });
    await assert.rejects(send('venue', 'GET', '/bad'), {
      backend: 'venue',
      status: 500,
      extensions: { code: 'BACKEND_ERROR' },
    });
    await assert.rejects(send('venue', 'POST', '/large', 'x'.repeat(2_000_000)));
    assert.equal(await send('venue', 'GET', '/good'), 'fine');
  });
});
