import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { waitFor } from '../../support/wait-for.ts';
import { sendRaw } from '../http/raw-client.ts';
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
    const { host, origin } = new URL(url);
    const search = new URLSearchParams({ query: body.query, variables: JSON.stringify(body.variables) });
    // Its head ends while the pod drains. A connection of then could be refused: nobody knows for how long the pod listens.
    const head = `GET /graphql?${search.toString()} HTTP/1.1\r\nHost: ${host}\r\nAccept: text/event-stream\r\n`;
    const eventSource = await sendRaw(t, server.port!, head);
    const closing = server.close();
    await open.ended();
    eventSource.socket.write(`Origin: ${origin}\r\n\r\n`);
    await waitFor('the end of the refused stream', () => eventSource.reply.isClosed);
    assert.equal((await late()).status, 503);
    assert.match(eventSource.reply.text, /\r\nretry: [123]\d{3}\n: refused with 503 .*The server is shutting down/);
    await closing;
  });
});
