import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { auditServer } from 'graphql-http';
import { getIntrospectionQuery } from 'graphql';
import { createLog } from '../../../src/base/log.ts';
import { startServer } from '../../../src/server.ts';
import { graphFolder } from '../../graph/support/graph-folder.ts';
import { testConfig } from '../../support/switches.ts';
import { CONFORMANCE_GRAPH } from '../websocket/reference.ts';

const JSON_TYPE = 'application/json';
const RESPONSE_TYPE = 'application/graphql-response+json';

/** A GET that a browser sends across origins only after a preflight. */
const PREFLIGHTED = { headers: { 'apollo-require-preflight': 'true' } };

/** Arguments for which validation accepts a nullable variable. */
const ARGUMENTS_GRAPH = {
  'schema.graphql': `
    type Query { page: Page }
    type Page { item(number: Int! = 1): Int list(numbers: [Int!] = [1]): Int }
    type Subscription { page: Page @kafka(topic: "pages") }
  `,
  'resolvers.js': 'export const Query = { page: () => ({ item: 1, list: 1 }) };',
};

/** Starts a crier with the conformance graph and returns the URL of its endpoint. */
async function startEndpoint(
  scope: { after(fn: () => Promise<void>): void },
  settings: Readonly<Record<string, string>> = {},
): Promise<string> {
  const config = testConfig({
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    GRAPH: CONFORMANCE_GRAPH,
    ...settings,
  });
  const server = await startServer(config, createLog('silent'), { onFatal: (error) => assert.fail(error) });
  scope.after(() => server.close());
  return `http://127.0.0.1:${server.port}/graphql`;
}

async function post(url: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': JSON_TYPE, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

describe('/graphql over HTTP', () => {
  let url = '';
  const closers: (() => Promise<void>)[] = [];
  before(async () => {
    url = await startEndpoint(
      { after: (close) => closers.push(close) },
      { ALLOWED_ORIGINS: 'https://app.example.com' },
    );
  });
  after(async () => {
    for (const close of closers) await close();
  });

  it('passes every MUST of the GraphQL over HTTP audit, and every SHOULD', async () => {
    const fetchFn = (at: string, init?: RequestInit) =>
      fetch(at, {
        ...init,
        headers: { 'apollo-require-preflight': 'true', ...(init?.headers as Record<string, string>) },
      });
    const results = await auditServer({ url, fetchFn });
    assert.ok(results.length > 50);
    const failed = results.filter(({ status }) => status !== 'ok');
    assert.deepEqual(
      failed.map(({ id, name }) => `${id} ${name}`),
      [],
    );
  });

  it('answers queries with variables, operation names and introspection', async () => {
    const query = 'query A { hello } query B($name: String) { greet(name: $name) }';
    const response = await post(url, { query, operationName: 'B', variables: { name: 'Ida' } });
    assert.deepEqual(await response.json(), { data: { greet: 'hello Ida' } });
    const { data } = (await (await post(url, { query: getIntrospectionQuery() })).json()) as { data: object };
    assert.deepEqual(Object.keys(data), ['__schema']);
  });

  it('answers a query by GET', async () => {
    const response = await fetch(`${url}?query=${encodeURIComponent('{ hello }')}`, PREFLIGHTED);
    assert.deepEqual(await response.json(), { data: { hello: 'world' } });
  });

  it('refuses a GET that any page could make a browser send, and says which header it needs', async () => {
    const query = `${url}?query=${encodeURIComponent('{ hello }')}`;
    for (const headers of [{}, { 'content-type': 'text/plain' }, { accept: 'application/json' }]) {
      const response = await fetch(query, { headers });
      assert.equal(response.status, 400);
      assert.match(await response.text(), /apollo-require-preflight/);
    }
    for (const headers of [
      { 'content-type': 'application/json; charset=utf-8' },
      { 'x-apollo-operation-name': 'A' },
      { 'graphql-require-preflight': '1' },
    ]) {
      assert.equal((await fetch(query, { headers })).status, 200);
    }
  });

  it('runs a mutation by POST, and never by GET', async () => {
    const query = 'mutation { shout(text: "hi") }';
    assert.deepEqual(await (await post(url, { query })).json(), { data: { shout: 'HI' } });
    const response = await fetch(`${url}?query=${encodeURIComponent(query)}`, PREFLIGHTED);
    assert.equal(response.status, 405);
  });

  it('answers a subscription with an error that names the WebSocket', async () => {
    const response = await post(url, { query: 'subscription { ticks(count: 1) }' }, { accept: RESPONSE_TYPE });
    assert.equal(response.status, 400);
    const { errors } = (await response.json()) as { errors: { message: string; extensions: { code: string } }[] };
    assert.match(errors[0]!.message, /WebSocket/);
    assert.equal(errors[0]!.extensions.code, 'OPERATION_NOT_ALLOWED');
  });

  it('answers an invalid document and an exceeded limit as the WebSocket does', async () => {
    for (const [query, code] of [
      ['{', 'GRAPHQL_PARSE_FAILED'],
      ['{ nothing }', 'GRAPHQL_VALIDATION_FAILED'],
      [`{ ${'hello '.repeat(2000)} }`, 'GRAPHQL_PARSE_FAILED'],
    ] as const) {
      const { errors } = (await (await post(url, { query })).json()) as { errors: { extensions: { code: string } }[] };
      assert.equal(errors[0]!.extensions.code, code, query.slice(0, 20));
    }
  });

  for (const jitAfterUses of ['0', '1']) {
    it(`answers variables that do not fit with BAD_USER_INPUT, JIT_AFTER_USES=${jitAfterUses}`, async (t) => {
      const endpoint = await startEndpoint(t, { JIT_AFTER_USES: jitAfterUses });
      const query = 'query ($name: String) { greet(name: $name) }';
      for (let i = 0; i < 3; i++) await (await post(endpoint, { query, variables: { name: 'Ida' } })).json();
      for (const [refused, variables] of [
        [query, { name: {} }],
        ['mutation ($text: String!) { shout(text: $text) }', {}],
      ] as const) {
        const response = await post(endpoint, { query: refused, variables });
        const { errors } = (await response.json()) as { errors: { message: string; extensions: { code: string } }[] };
        assert.match(errors[0]!.message, /^Variable "\$(name|text)" /);
        assert.equal(errors[0]!.extensions.code, 'BAD_USER_INPUT');
      }
    });
  }

  for (const jitAfterUses of ['0', '1']) {
    it(`answers a null for an argument below the root with BAD_USER_INPUT, JIT_AFTER_USES=${jitAfterUses}`, async (t) => {
      const graph = await graphFolder(t, ARGUMENTS_GRAPH);
      const endpoint = await startEndpoint(t, { JIT_AFTER_USES: jitAfterUses, GRAPH: graph });
      for (const [query, message] of [
        [
          'query ($v: Int) { page { item(number: $v) } }',
          /^Argument "(number" of non-null type "Int!" must not be null|Page.item\(number:\)" has invalid value)/,
        ],
        [
          'query ($v: Int = 1) { page { list(numbers: [$v]) } }',
          /^Argument "(numbers" has invalid value \[\$v\]|Page.list\(numbers:\)" has invalid value)/,
        ],
      ] as const) {
        for (let i = 0; i < 3; i++) await (await post(endpoint, { query, variables: { v: 1 } })).json();
        const response = await post(endpoint, { query, variables: { v: null } });
        const { errors } = (await response.json()) as { errors: { message: string; extensions: { code: string } }[] };
        assert.match(errors[0]!.message, message);
        assert.equal(errors[0]!.extensions.code, 'BAD_USER_INPUT');
      }
    });
  }

  it('answers invalid JSON, content type and method with 4xx', async () => {
    assert.equal((await post(url, '{"query":')).status, 400);
    assert.equal((await post(url, '{ hello }', { 'content-type': 'text/plain' })).status, 415);
    assert.equal((await fetch(url, { method: 'PATCH', body: '{}' })).status, 405);
    assert.equal((await fetch(url.replace('/graphql', '/nothing'))).status, 404);
  });

  for (const contentType of [
    'application/json; charset="UTF-8"',
    'application/json;charset=utf8',
    'Application/JSON; Charset=US-ASCII',
    'application/json;',
    'application/json; profile="a;charset=latin1"; charset=utf-8',
    'application/json; odata=verbose',
  ]) {
    it(`accepts a body of content-type ${contentType}`, async () => {
      const reply = await post(url, { query: '{ hello }' }, { 'content-type': contentType });
      assert.deepEqual([reply.status, await reply.json()], [200, { data: { hello: 'world' } }]);
      const query = await fetch(`${url}?query={hello}`, { headers: { 'content-type': contentType } });
      assert.equal(query.status, 200);
    });
  }

  for (const [headers, text] of [
    [{ 'content-type': 'text/plain' }, /content-type: application\/json/],
    [{ 'content-type': 'application/json; charset="ISO-8859-1"' }, /must be UTF-8/],
    [{ 'content-type': 'application/json; charset=utf-16' }, /must be UTF-8/],
    [{ 'content-encoding': 'gzip' }, /must not be compressed/],
  ] as const) {
    it(`says with 415 why it does not read a body with ${JSON.stringify(headers)}`, async () => {
      const reply = await post(url, '{ hello }', headers);
      assert.equal(reply.status, 415);
      assert.match(await reply.text(), text);
    });
  }

  it('accepts any spelling of UTF-8 in accept', async () => {
    for (const accept of [
      'application/json; charset="UTF-8"',
      'application/graphql-response+json;charset="utf-8"',
      'application/graphql-response+json; charset=utf8',
    ]) {
      const reply = await post(url, { query: '{ hello }' }, { accept });
      assert.equal(reply.status, 200, accept);
      assert.equal(reply.headers.get('content-type')!.split(';')[0], accept.split(';')[0]);
    }
  });

  it('says with 406 what it can answer, whatever the method', async () => {
    const accept = 'text/csv, image/png';
    const replies = [
      await post(url, { query: '{ hello }' }, { accept }),
      await fetch(`${url}?query={hello}`, { headers: { ...PREFLIGHTED.headers, accept } }),
    ];
    for (const reply of replies) {
      assert.equal(reply.status, 406);
      assert.match(reply.headers.get('content-type')!, /^text\/plain/);
      const text = await reply.text();
      for (const part of [
        accept,
        RESPONSE_TYPE,
        `${JSON_TYPE} `,
        'text/event-stream',
        'multipart/mixed',
        'WebSocket of /graphql',
      ])
        assert.ok(text.includes(part), text);
    }
  });

  it('refuses a body over MAX_MESSAGE_BYTES with 413, with and without Content-Length', async () => {
    const query = `{ hello }${' '.repeat(66_000)}`;
    const told = await post(url, { query });
    assert.equal(told.status, 413);
    assert.match(await told.text(), /65536 bytes.*MAX_MESSAGE_BYTES/);
    const chunk = 'x'.repeat(40_000);
    const raw = await exchange(
      url,
      `POST /graphql HTTP/1.1\r\nHost: h\r\nContent-Type: ${JSON_TYPE}\r\nTransfer-Encoding: chunked\r\n\r\n` +
        `${`${chunk.length.toString(16)}\r\n${chunk}\r\n`.repeat(2)}`,
    );
    assert.match(raw, /^HTTP\/1\.1 413 /);
    const never = `POST /graphql HTTP/1.1\r\nHost: h\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: 10000000\r\n\r\n`;
    assert.match(await exchange(url, never + 'x'.repeat(100_000)), /^HTTP\/1\.1 413 /);
  });

  it('answers only its own origin and the listed ones', async () => {
    const query = '{ hello }';
    const refused = await post(url, { query }, { origin: 'https://evil.example' });
    assert.equal(refused.status, 403);
    assert.equal(refused.headers.get('access-control-allow-origin'), null);
    assert.match(await refused.text(), /ALLOWED_ORIGINS/);
    const own = await post(url, { query }, { origin: new URL(url).origin });
    assert.equal(own.status, 200);
    const listed = await post(url, { query }, { origin: 'https://app.example.com' });
    assert.equal(listed.headers.get('access-control-allow-origin'), 'https://app.example.com');
    assert.equal(listed.headers.get('vary'), 'accept, origin');
    assert.deepEqual(await listed.json(), { data: { hello: 'world' } });
  });

  it('says to caches that the form of each reply depends on accept', async () => {
    const query = new URLSearchParams({ query: '{ hello }' });
    for (const [accept, status, type] of [
      ['application/json', 200, /^application\/json/],
      ['text/event-stream', 200, /^text\/event-stream/],
      ['image/png', 406, /^text\/plain/],
    ] as const) {
      const reply = await fetch(`${url}?${query.toString()}`, {
        headers: { accept, 'apollo-require-preflight': 'true' },
      });
      assert.equal(reply.status, status);
      assert.match(reply.headers.get('content-type')!, type);
      assert.equal(reply.headers.get('vary'), 'accept, origin');
    }
  });

  it('answers the preflight of a listed origin', async () => {
    const preflight = {
      method: 'OPTIONS',
      headers: {
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,authorization,x-other',
      },
    };
    const ask = (origin: string) => fetch(url, { ...preflight, headers: { ...preflight.headers, origin } });
    const { status, headers } = await ask('https://app.example.com');
    assert.equal(status, 204);
    assert.equal(headers.get('access-control-allow-origin'), 'https://app.example.com');
    assert.match(headers.get('access-control-allow-methods')!, /POST/);
    assert.equal(headers.get('access-control-allow-headers'), 'content-type,authorization,x-other');
    assert.equal(headers.get('access-control-allow-credentials'), 'true');
    assert.equal((await ask('https://evil.example')).status, 403);
  });

  it('leaves nothing behind when a client disconnects during its request', async () => {
    const head = `POST /graphql HTTP/1.1\r\nHost: h\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: 100\r\n\r\n{"query"`;
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(head);
    socket.destroy();
    assert.deepEqual(await (await post(url, { query: '{ hello }' })).json(), { data: { hello: 'world' } });
  });
});

describe('a graph that authenticates', () => {
  it('answers 403 to a refused client, whatever it accepts', async (t) => {
    const folder = await graphFolder(t, {
      'schema.graphql': 'type Query { me: String } type Subscription { one: String }',
      'resolvers.ts': `
        export const Query = { me: (_: unknown, __: unknown, context: any) => context.connection.claims.sub };
        export const Subscription = { one: { async *subscribe() {} } };`,
      'context.ts': `
        export function authenticate({ headers }: { headers: Record<string, string> }) {
          switch (headers.authorization) {
            case 'Bearer ida': return { sub: 'ida' };
            case 'Bearer throw': throw new Error('pg://user:secret@db refused');
            case 'Bearer hang': return new Promise(() => {});
            default: return false;
          }
        }`,
    });
    const url = await startEndpoint(t, { GRAPH: folder, AUTHENTICATION_TIMEOUT_MS: '300' });
    const ask = (authorization: string) => post(url, { query: '{ me }' }, { authorization });
    assert.deepEqual(await (await ask('Bearer ida')).json(), { data: { me: 'ida' } });
    for (const token of ['Bearer nobody']) {
      const response = await ask(token);
      assert.equal(response.status, 403, token);
      assert.deepEqual(await response.json(), {
        errors: [{ message: 'Forbidden', extensions: { code: 'FORBIDDEN' } }],
      });
    }
  });
});

describe('a crier that answers every origin', () => {
  it('sends no credentials of its own origin to it', async (t) => {
    const url = await startEndpoint(t, { ALLOWED_ORIGINS: '*' });
    const { headers } = await post(url, { query: '{ hello }' }, { origin: 'https://any.example' });
    assert.equal(headers.get('access-control-allow-origin'), 'https://any.example');
    assert.equal(headers.get('access-control-allow-credentials'), null);
  });
});

describe('a crier without introspection', () => {
  it('refuses introspection and answers queries', async (t) => {
    const url = await startEndpoint(t, { INTROSPECTION: 'false' });
    assert.match(await (await post(url, { query: '{ __schema { types { name } } }' })).text(), /introspection/);
    assert.deepEqual(await (await post(url, { query: '{ hello }' })).json(), { data: { hello: 'world' } });
  });
});

/** Writes bytes unchanged; resolves with the bytes received until the server closed the connection. */
async function exchange(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  socket.on('error', () => undefined);
  socket.write(text);
  await once(socket, 'close');
  return answer;
}
