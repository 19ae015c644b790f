import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { text } from 'node:stream/consumers';
import { createServer, defineGraph } from '../../../src/library/crier.ts';
import { metricOf } from '../../support/metric.ts';
import { waitFor } from '../../support/wait-for.ts';

const SCHEMA = 'type Subscription { item(id: ID!): Item @kafka(topic: "items", match: [{ arg: "id", path: "id" }]) }';

describe('a stream of another HTTP server, which has read the body', () => {
  it('is not opened if its client leaves while it is authenticated', async (t) => {
    let admit: () => void = () => undefined;
    const admitted = new Promise<void>((resolve) => (admit = resolve));
    let asked = 0;
    const authenticate = async () => {
      asked++;
      await admitted;
      return {};
    };
    const graph = defineGraph({ schema: `${SCHEMA} type Item { id: ID }`, context: { authenticate } });
    const crier = await createServer({ graph, listen: false, logLevel: 'silent', host: '127.0.0.1' });
    t.after(() => crier.close());
    let closed = 0;
    const server = createHttpServer((request, response) => {
      response.once('close', () => closed++);
      void text(request).then((body) => crier.handleRequest(request, response, JSON.parse(body)));
    }).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const leaving = new AbortController();
    const request = fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`, {
      method: 'POST',
      headers: { accept: 'text/event-stream', 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'subscription { item(id: "a") { id } }' }),
      signal: leaving.signal,
    });
    await waitFor('the authentication', () => asked === 1);
    leaving.abort();
    await assert.rejects(request);
    await waitFor('the end of the socket', () => closed === 1);
    admit();
    await waitFor('the end', async () => (await metricOf(crier.adminUrl, 'crier_requests_in_flight')) === 0);
    assert.equal(await metricOf(crier.adminUrl, 'crier_connections'), 0);
    assert.equal(await metricOf(crier.adminUrl, 'crier_operations'), 0);
  });
});
