import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { createLog } from '../../../src/base/log.ts';
import { startServer } from '../../../src/server.ts';
import { testConfig } from '../../support/switches.ts';
import { request } from 'undici';

async function get(t: TestContext, settings: Readonly<Record<string, string>>, headers: Record<string, string> = {}) {
  const config = testConfig({ HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0', ...settings });
  const server = await startServer(config, createLog('silent'), { onFatal: (error) => assert.fail(error) });
  t.after(() => server.close());
  const origin = `http://127.0.0.1:${server.port}`;
  const { statusCode, headers: sent, body } = await request(origin, { headers: { accept: '*/*', ...headers } });
  return { origin, statusCode, type: sent['content-type'], text: await body.text() };
}

describe('createOverview', () => {
  it('tells curl what there is, with an operation to paste', async (t) => {
    const { origin, statusCode, type, text } = await get(t, {});
    assert.equal(statusCode, 200);
    assert.equal(type, 'text/plain; charset=utf-8');
    for (const part of [
      'the graph "auction"',
      `${origin}/   (in a browser)`,
      `${origin.replace('http', 'ws')}/graphql   (WebSocket, sub-protocol graphql-transport-ws`,
      `POST ${origin}/graphql`,
      'subscription WatchAuction {',
    ])
      assert.ok(text.includes(part), `${part} in\n${text}`);
    const [, url = '', body = ''] = /curl (\S+) -H 'content-type: application\/json' -d '(.*)'/.exec(text) ?? [];
    const answer = await request(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    assert.deepEqual(await answer.body.json(), { data: { __typename: 'Query' } });
  });

  it('gives a browser the page instead', async (t) => {
    const { type } = await get(t, {}, { accept: 'text/html,*/*;q=0.8' });
    assert.equal(type, 'text/html; charset=utf-8');
  });

  it('names neither the graph nor its fields without GraphiQL, and the origin of PUBLIC_ORIGIN', async (t) => {
    const { statusCode, text } = await get(t, { GRAPHIQL: 'false', PUBLIC_ORIGIN: 'https://api.example.com' });
    assert.equal(statusCode, 200);
    assert.match(text, /wss:\/\/api\.example\.com\/graphql/);
    assert.doesNotMatch(text, /auction|crier|GraphiQL|127\.0\.0\.1/i);
  });

  it('repeats no Host that a shell could run', async (t) => {
    const { text } = await get(t, {}, { host: 'a;reboot' });
    assert.match(text, /http:\/\/localhost\/graphql/);
    assert.doesNotMatch(text, /reboot/);
  });
});
