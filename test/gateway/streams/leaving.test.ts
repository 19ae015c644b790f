import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createServer, defineGraph } from '../../../src/library/crier.ts';
import { waitFor } from '../../support/wait-for.ts';
import { beginPost, openStream } from './stream-client.ts';

const TOKEN = 'x-graphql-event-stream-token';

describe('a reserved stream that a mutation keeps open while the pod drains', () => {
  it('refuses another operation with 503, and carries the result of the mutation', async (t) => {
    let pay: ((answer: string) => void) | undefined;
    const paying = () => new Promise<string>((resolve) => (pay = resolve));
    const schema = `
      type Query { hello: String }
      type Mutation { pay: String }
      type Payment { id: ID }
      type Subscription { paid(id: ID!): Payment @kafka(topic: "payments", match: [{ arg: "id", path: "id" }]) }
    `;
    const graph = defineGraph({ schema, resolvers: { Mutation: { pay: paying } } });
    const server = await createServer({ graph, host: '127.0.0.1', port: 0, logLevel: 'silent', drainDelayMs: 0 });
    t.after(() => server.close());
    const url = server.url!;
    const token = await (await fetch(url, { method: 'PUT' })).text();
    const stream = await openStream(t, url, { method: 'GET', headers: { [TOKEN]: token } });
    const begin = (query: string, operationId: string) =>
      beginPost(t, url, { query, extensions: { operationId } }, { [TOKEN]: token });
    const mutation = await begin('mutation { pay }', 'a');
    const late = await begin('{ hello }', 'b');
    assert.equal((await mutation()).status, 202);
    await waitFor('the mutation', () => pay !== undefined);

    const closing = server.close();
    const refused = await late();
    await refused.ended();
    assert.equal(refused.status, 503);
    assert.match(refused.text, /The stream ends: reserve another one/);

    pay!('done');
    const [next] = await stream.take(1);
    assert.deepEqual(next!.data, { id: 'a', payload: { data: { pay: 'done' } } });
    await closing;
  });
});
