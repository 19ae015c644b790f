import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { waitFor } from '../support/wait-for.ts';
import { createProbe } from '../websocket/probe.ts';
import { startStreams } from './start-streams.ts';
import { openStream } from './stream-client.ts';

const LIVE = 'subscription ($token: String!) { live(token: $token) { value } }';
const ACCEPT = { accept: 'multipart/mixed;subscriptionSpec=1.0, application/json' };

/** The content of each part that has ended. */
function partsOf(text: string): unknown[] {
  return text
    .split('\r\n---')
    .slice(1, -1)
    .map((part) => JSON.parse(part.split('\r\n\r\n')[1]!) as unknown);
}

describe('a multipart stream', () => {
  it('carries each result as a part that has ended when it arrives, and ends with the last boundary', async (t) => {
    const { url } = await startStreams(t);
    const probe = createProbe(t);
    const body = { query: LIVE, variables: { token: probe.token } };
    const stream = await openStream(t, url, { headers: ACCEPT, body });
    assert.equal(stream.headers['content-type'], 'multipart/mixed; boundary="-"; subscriptionSpec=1.0');
    await waitFor('the source', () => probe.starts === 1);
    for (const value of [1, 2]) {
      probe.push(value);
      await waitFor('its part', () => partsOf(stream.text).length === value);
    }
    probe.end();
    await stream.ended();
    assert.deepEqual(
      partsOf(stream.text),
      [1, 2].map((value) => ({ payload: { data: { live: { value } } } })),
    );
    assert.ok(stream.text.endsWith('\r\n-----\r\n'));
  });

  it('receives empty parts at the interval of pings', async (t) => {
    const { url } = await startStreams(t, { PING_INTERVAL_MS: '20' });
    const probe = createProbe(t);
    const body = { query: LIVE, variables: { token: probe.token } };
    const stream = await openStream(t, url, { headers: ACCEPT, body });
    await waitFor('two heartbeats', () => partsOf(stream.text).length >= 2);
    assert.deepEqual(partsOf(stream.text).slice(0, 2), [{}, {}]);
  });

  it('ends with an error of the transport when a drain closes it', async (t) => {
    const { url, server } = await startStreams(t);
    const probe = createProbe(t);
    const body = { query: LIVE, variables: { token: probe.token } };
    const stream = await openStream(t, url, { headers: ACCEPT, body });
    await waitFor('the source', () => probe.starts === 1);
    await server.close();
    await stream.ended();
    assert.deepEqual(partsOf(stream.text), [
      {
        payload: null,
        errors: [{ message: 'The server is shutting down', extensions: { code: 'STREAM_CLOSED', closeCode: 1001 } }],
      },
    ]);
    assert.ok(stream.text.endsWith('\r\n-----\r\n'));
  });

  it('carries the errors of an operation that is refused as a payload', async (t) => {
    const { url } = await startStreams(t);
    const stream = await openStream(t, url, { headers: ACCEPT, body: { query: 'subscription { nothing }' } });
    await stream.ended();
    assert.match(JSON.stringify(partsOf(stream.text)), /^\[{"payload":{"errors":\[.*GRAPHQL_VALIDATION_FAILED/);
  });

  it('is not for clients that ask for parts of one result (@defer)', async (t) => {
    const { url } = await startStreams(t);
    const headers = { accept: 'multipart/mixed;deferSpec=20220824, application/json' };
    const stream = await openStream(t, url, { headers, body: { query: '{ hello }' } });
    await stream.ended();
    assert.equal(stream.text, '{"data":{"hello":"world"}}');
  });
});
