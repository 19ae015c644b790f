import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createServer } from '../../../src/library/create-server.ts';
import { defineGraph } from '../../../src/library/define-graph.ts';
import { metricOf } from '../../support/metric.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createProbe } from '../websocket/probe.ts';
import { boundaryOf, partsOf } from './parts.ts';
import { startStreams } from './start-streams.ts';
import { openStream } from './stream-client.ts';

const LIVE = 'subscription ($token: String!) { live(token: $token) { value } }';
const ACCEPT = { accept: 'multipart/mixed;subscriptionSpec=1.0, application/json' };

describe('a multipart stream', () => {
  it('carries each result as a part that has ended when it arrives, and ends with the last boundary', async (t) => {
    const { url } = await startStreams(t);
    const probe = createProbe(t);
    const body = { query: LIVE, variables: { token: probe.token } };
    const stream = await openStream(t, url, { headers: ACCEPT, body });
    await waitFor('the source', () => probe.starts === 1);
    for (const value of [1, 2]) {
      probe.push(value);
      await waitFor('its part', () => partsOf(stream).length === value);
    }
    probe.end();
    await stream.ended();
    assert.deepEqual(
      partsOf(stream),
      [1, 2].map((value) => ({ payload: { data: { live: { value } } } })),
    );
    assert.ok(stream.text.endsWith(`\r\n--${boundaryOf(stream)}--\r\n`));
  });

  it('has the boundary that its client names, if many know that one only', async (t) => {
    const { url } = await startStreams(t);
    for (const [accept, boundary] of [
      ['multipart/mixed;boundary=graphql;subscriptionSpec=1.0, application/json', /^graphql$/],
      ['multipart/mixed; boundary="graphql"; subscriptionSpec="1.0"', /^graphql$/],
      ['multipart/mixed;boundary="a,b";subscriptionSpec=1.0', /^[0-9a-f]{24}$/],
    ] as const) {
      const stream = await openStream(t, url, { headers: { accept }, body: { query: 'subscription { nothing }' } });
      await stream.ended();
      assert.match(boundaryOf(stream), boundary);
      assert.equal(partsOf(stream).length, 1);
    }
  });

  for (const accept of [ACCEPT.accept, 'multipart/mixed;boundary=graphql;subscriptionSpec=1.0'])
    it(`carries text that looks like a boundary to clients that look for boundaries inside of lines: ${accept}`, async (t) => {
      const graph = defineGraph({
        schema: 'type Subscription { said: Said @kafka(topic: "said") } type Said { text: String }',
      });
      const crier = await createServer({ host: '127.0.0.1', port: 0, pingIntervalMs: 0, logLevel: 'fatal', graph });
      t.after(() => crier.close());
      const stream = await openStream(t, crier.url!, {
        headers: { accept },
        body: { query: 'subscription { said { text } }' },
      });
      await waitFor('the operation', async () => (await metricOf(crier.adminUrl, 'crier_subscriptions')) === 1);
      const texts = ['---', '-----', '--graphql', '\r\n-----\r\n'];
      for (const text of texts) await crier.publish('said', { value: { text } });
      await waitFor('the parts', () => partsOf(stream).length === texts.length);
      assert.deepEqual(
        partsOf(stream).map(
          (part) => (part as { payload: { data: { said: { text: string } } } }).payload.data.said.text,
        ),
        texts,
      );
    });

  it('receives empty parts at the interval of pings', async (t) => {
    const { url } = await startStreams(t, { PING_INTERVAL_MS: '20' });
    const probe = createProbe(t);
    const body = { query: LIVE, variables: { token: probe.token } };
    const stream = await openStream(t, url, { headers: ACCEPT, body });
    await waitFor('two heartbeats', () => partsOf(stream).length >= 2);
    assert.deepEqual(partsOf(stream).slice(0, 2), [{}, {}]);
  });

  it('ends with an error of the transport when a drain closes it', async (t) => {
    const { url, server } = await startStreams(t);
    const probe = createProbe(t);
    const body = { query: LIVE, variables: { token: probe.token } };
    const stream = await openStream(t, url, { headers: ACCEPT, body });
    await waitFor('the source', () => probe.starts === 1);
    await server.close();
    await stream.ended();
    assert.deepEqual(partsOf(stream), [
      {
        payload: null,
        errors: [{ message: 'The server is shutting down', extensions: { code: 'STREAM_CLOSED', closeCode: 1001 } }],
      },
    ]);
    assert.ok(stream.text.endsWith(`\r\n--${boundaryOf(stream)}--\r\n`));
  });

  it('carries the errors of an operation that is refused as a payload', async (t) => {
    const { url } = await startStreams(t);
    const stream = await openStream(t, url, { headers: ACCEPT, body: { query: 'subscription { nothing }' } });
    await stream.ended();
    assert.match(JSON.stringify(partsOf(stream)), /^\[{"payload":{"errors":\[.*GRAPHQL_VALIDATION_FAILED/);
  });

  it('is not for clients that ask for parts of one result (@defer)', async (t) => {
    const { url } = await startStreams(t);
    const headers = { accept: 'multipart/mixed;deferSpec=20220824, application/json' };
    const stream = await openStream(t, url, { headers, body: { query: '{ hello }' } });
    await stream.ended();
    assert.equal(stream.text, '{"data":{"hello":"world"}}');
  });
});
