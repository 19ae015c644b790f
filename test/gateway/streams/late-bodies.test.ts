import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createProbe } from '../websocket/probe.ts';
import { startStreams } from './start-streams.ts';
import { beginPost, openStream } from './stream-client.ts';

const LIVE = 'subscription ($token: String!) { live(token: $token) { value } }';

describe('a stream whose body arrives long after its headers', () => {
  for (const setting of ['MAX_CONNECTIONS_PER_ADDRESS', 'MAX_CONNECTIONS']) {
    it(`is refused if others have taken the last place of ${setting} meanwhile`, async (t) => {
      const { url, metric } = await startStreams(t, { [setting]: '1' });
      const body = { query: LIVE, variables: { token: createProbe(t).token } };
      const [first, second] = [await beginPost(t, url, body), await beginPost(t, url, body)];
      assert.equal((await first()).status, 200);
      const refused = await second();
      assert.ok([429, 503].includes(refused.status));
      await refused.ended();
      assert.match(refused.text, new RegExp(`${setting}\\b`));
      assert.equal(await metric('crier_connections'), 1);
    });
  }

  it('is refused if the pod drains meanwhile, and an EventSource as it can come back from', async (t) => {
    const { url, server } = await startStreams(t);
    const body = { query: LIVE, variables: { token: createProbe(t).token } };
    const late = await beginPost(t, url, body);
    const open = await openStream(t, url, { body });
    const closing = server.close();
    await open.ended();
    const search = new URLSearchParams({ query: body.query, variables: JSON.stringify(body.variables) });
    const headers = { origin: new URL(url).origin };
    const eventSource = await openStream(t, `${url}?${search.toString()}`, { method: 'GET', headers });
    await eventSource.ended();
    assert.equal((await late()).status, 503);
    assert.match(eventSource.text, /^retry: [123]\d{3}\n: refused with 503 .*The server is shutting down/);
    await closing;
  });
});
