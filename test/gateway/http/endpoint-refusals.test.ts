import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get } from 'node:http';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { startServer } from '../../../src/server.ts';
import { graphFolder } from '../../graph/support/graph-folder.ts';
import { handshake } from '../../support/socket.ts';
import { testConfig } from '../../support/switches.ts';
import { waitFor } from '../../support/wait-for.ts';

const GRAPH = {
  'schema.graphql': `
    scalar Any
    type Query { hello: String, unprintable: Any, broken: String, leaf: String }
    type Mutation { shout(text: String!): String }
    type Subscription { tick: Int @kafka(topic: "ticks") }
  `,
  'resolvers.ts': `
    export const Query = {
      hello: () => 'world',
      unprintable: () => { const loop: Record<string, unknown> = { secret: 1 }; loop.loop = loop; return loop; },
      broken: () => { throw new Error('pg://user:secret@db refused'); },
      leaf: () => ({ password: 'secret' }),
    };
    export const Mutation = { shout: (_: unknown, { text }: { text: string }) => text.toUpperCase() };
  `,
  'context.ts': `
    export function authenticate({ headers }: { headers: Record<string, string> }) {
      switch (headers['x-auth']) {
        case 'hang': return new Promise<never>(() => {});
        case 'throw': throw new Error('pg://user:secret@db refused');
        case 'reject': return false;
        default: return {};
      }
    }
  `,
};

/** An embedded crier with this graph, and its log lines from level warn. */
async function startEndpoint(t: TestContext, settings: Readonly<Record<string, string>> = {}) {
  const log: string[] = [];
  const config = testConfig({
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    GRAPH: await graphFolder(t, GRAPH),
    ...settings,
  });
  const logger = pino({ level: 'warn' }, { write: (line) => void log.push(line) });
  const server = await startServer(config, logger, { onFatal: (error) => assert.fail(error) });
  t.after(() => server.close());
  log.length = 0;
  const port = server.port!;
  const request = async (body: string, headers: Readonly<Record<string, string>> = {}, query = '') => {
    const response = await fetch(`http://127.0.0.1:${port}/graphql${query}`, {
      method: query === '' ? 'POST' : 'GET',
      headers: { 'content-type': 'application/json', ...headers },
      body: query === '' ? body : null,
    });
    return { status: response.status, text: await response.text() };
  };
  const ask = (query: string, headers: Readonly<Record<string, string>> = {}) =>
    request(JSON.stringify({ query }), headers);
  return { port, adminPort: server.adminPort, log, request, ask };
}

describe('a refused or broken request to /graphql', () => {
  it('answers queries and mutations', async (t) => {
    const { ask } = await startEndpoint(t);
    assert.deepEqual(await ask('{ hello }'), { status: 200, text: '{"data":{"hello":"world"}}' });
    assert.equal((await ask('mutation { shout(text: "a") }')).text, '{"data":{"shout":"A"}}');
  });

  for (const how of ['reject', 'throw', 'hang']) {
    it(`answers FORBIDDEN, without a reason, when authenticate does this: ${how}`, async (t) => {
      const { ask, log } = await startEndpoint(t, { AUTHENTICATION_TIMEOUT_MS: '100' });
      const answers = await Promise.all([1, 2, 3].map(() => ask('{ hello }', { 'x-auth': how })));
      for (const { text } of answers)
        assert.equal(text, '{"errors":[{"message":"Forbidden","extensions":{"code":"FORBIDDEN"}}]}');
      assert.equal(log.length, how === 'reject' ? 0 : 1, 'one line per window');
      assert.equal((await ask('{ hello }')).status, 200);
    });
  }

  it('sends no internals of an error', async (t) => {
    const { ask, log } = await startEndpoint(t);
    const { text } = await ask('{ broken }');
    assert.match(text, /"data":\{"broken":null\}.*"Internal server error"/);
    assert.doesNotMatch(text, /secret/);
    assert.match(log.join(''), /secret/, 'the log has the original');
    const { status, text: unwritable } = await ask('{ unprintable }');
    assert.equal(status, 500);
    assert.equal(
      unwritable,
      '{"errors":[{"message":"Internal server error","extensions":{"code":"INTERNAL_SERVER_ERROR"}}]}',
    );
  });

  it('logs no error for a client that disconnects during its request', async (t) => {
    const { port, log, ask } = await startEndpoint(t);
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write('POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{');
    await ask('{ hello }');
    socket.destroy();
    await once(socket, 'close');
    await waitFor('the server to notice', async () => (await ask('{ hello }')).status === 200);
    assert.deepEqual(log, []);
  });

  it('refuses subscriptions, other content types, mutations by GET, and bodies that are too long or not a request', async (t) => {
    const { ask, request } = await startEndpoint(t);
    assert.match((await ask('subscription { tick }')).text, /"errors"/);
    assert.equal((await request('{"query":"{ hello }"}', { 'content-type': 'text/plain' })).status, 415);
    assert.equal((await request('', {}, '?query=mutation{shout(text:"a")}')).status, 405);
    assert.equal((await request(`{"query":"${' '.repeat(70_000)}"}`)).status, 413);
    for (const body of ['', '{', '[]', 'null', '{"query":1}', '{"query":"{ hello }","variables":[]}']) {
      assert.equal((await request(body)).status, 400, body);
    }
    assert.match(
      (await request('[{"query":"{ hello }"}]')).text,
      /Batches are not supported: send each request as a JSON/,
    );
  });

  it('refuses a foreign Origin before anything is executed', async (t) => {
    const { ask } = await startEndpoint(t);
    assert.equal((await ask('{ hello }', { origin: 'https://evil.example' })).status, 403);
  });

  it('refuses the GET and the handshake of a page whose name was pointed to the server, if its own is known', async (t) => {
    const PUBLIC_ORIGIN = 'https://api.example.com';
    for (const [settings, expected] of [
      [{ PUBLIC_ORIGIN }, { get: 421, upgrade: 421 }],
      [{}, { get: 200, upgrade: 101 }],
    ] as const) {
      const { port, adminPort } = await startEndpoint(t, settings);
      const headers = { host: 'evil.example', 'apollo-require-preflight': 'true' };
      const url = `http://127.0.0.1:${port}/graphql`;
      const get = await statusOf(`${url}?query={hello}`, headers);
      assert.deepEqual({ get, upgrade: (await handshake(url, headers)).status }, expected);
      assert.equal((await handshake(url, { ...headers, host: 'api.example.com' })).status, 101);
      const admin = `http://127.0.0.1:${adminPort}`;
      assert.equal(await statusOf(`${admin}/readyz`, { host: '10.0.0.1:4001' }), 200);
      assert.equal(await statusOf(`${admin}/metrics`, { host: 'crier.default.svc:4001' }), 200);
    }
  });
});

/** The status of a GET with these headers, also a Host that fetch would replace. */
async function statusOf(url: string, headers: OutgoingHttpHeaders): Promise<number | undefined> {
  const outgoing = get(url, { headers, agent: false });
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}
