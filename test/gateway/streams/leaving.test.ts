import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createServer, defineGraph } from '../../../src/library/crier.ts';
import type { Scope } from '../../support/socket.ts';
import { waitFor } from '../../support/wait-for.ts';
import { boundaryOf, partsOf } from './parts.ts';
import { beginPost, openStream } from './stream-client.ts';

const TOKEN = 'x-graphql-event-stream-token';

describe('a reserved stream that a mutation keeps open while the pod drains', () => {
  it('refuses another operation with 503, and carries the result of the mutation', async (t) => {
    const { server, url, payment } = await startPayments(t);
    const token = await (await fetch(url, { method: 'PUT' })).text();
    const stream = await openStream(t, url, { method: 'GET', headers: { [TOKEN]: token } });
    const begin = (query: string, operationId: string) =>
      beginPost(t, url, { query, extensions: { operationId } }, { [TOKEN]: token });
    const mutation = await begin('mutation { pay }', 'a');
    const late = await begin('{ hello }', 'b');
    assert.equal((await mutation()).status, 202);
    await waitFor('the mutation', () => payment.end !== undefined);

    const closing = server.close();
    const refused = await late();
    await refused.ended();
    assert.equal(refused.status, 503);
    assert.match(refused.text, /The stream ends: reserve another one/);

    payment.end!('done');
    const [next] = await stream.take(1);
    assert.deepEqual(next!.data, { id: 'a', payload: { data: { pay: 'done' } } });
    await closing;
  });
});

describe('a mutation that is answered in parts while the pod drains', () => {
  it('ends once, with its result', async (t) => {
    const { server, url, payment } = await startPayments(t);
    const headers = { accept: 'multipart/mixed;subscriptionSpec=1.0' };
    const reply = openStream(t, url, { headers, body: { query: 'mutation { pay }' } });
    await waitFor('the mutation', () => payment.end !== undefined);
    const closing = server.close();
    payment.end!('done');
    const stream = await reply;
    await Promise.all([stream.ended(), closing]);
    assert.deepEqual(partsOf(stream), [{ payload: { data: { pay: 'done' } } }]);
    assert.equal(stream.text.split(`--${boundaryOf(stream)}--`).length, 2);
  });
});

/** A server whose mutation `pay` is answered when a test ends its payment. */
async function startPayments(scope: Scope) {
  const payment: { end?: (answer: string) => void } = {};
  const paying = () => new Promise<string>((resolve) => (payment.end = resolve));
  const schema = `
    type Query { hello: String }
    type Mutation { pay: String }
    type Payment { id: ID }
    type Subscription { paid(id: ID!): Payment @kafka(topic: "payments", match: [{ arg: "id", path: "id" }]) }
  `;
  const graph = defineGraph({ schema, resolvers: { Mutation: { pay: paying } } });
  const server = await createServer({ graph, host: '127.0.0.1', port: 0, logLevel: 'silent', drainDelayMs: 0 });
  scope.after(() => server.close());
  return { server, url: server.url!, payment };
}
