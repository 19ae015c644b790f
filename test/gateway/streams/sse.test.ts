import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { graphFolder } from '../../graph/support/graph-folder.ts';
import { sendRaw } from '../http/raw-client.ts';
import { createServer } from '../../../src/library/create-server.ts';
import { defineGraph } from '../../../src/library/define-graph.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createProbe } from '../websocket/probe.ts';
import { startStreams } from './start-streams.ts';
import { openStream } from './stream-client.ts';

const HELLO = '{"data":{"hello":"world"}}';
const HELLO_EVENTS = `:\n\nevent: next\ndata: ${HELLO}\n\nevent: complete\ndata:\n\n`;
const LIVE = 'subscription ($token: String!) { live(token: $token) { value } }';

/** Each event has 100 KB. */
const LARGE_EVENTS_GRAPH = {
  'schema.graphql': 'type Subscription { large: String @kafka(topic: "large", payload: "text") }',
  'samples.js':
    'export function* records() { for (;;) yield { topic: "large", value: { text: "x".repeat(100_000) } }; }',
};

describe('a stream of server-sent events', () => {
  let url = '';
  let metric: (name: string) => Promise<number>;
  const closers: (() => void | Promise<void>)[] = [];
  before(async () => {
    ({ url, metric } = await startStreams(
      { after: (close: () => void | Promise<void>) => void closers.push(close) },
      { ALLOWED_ORIGINS: 'https://app.example.com' },
    ));
  });
  after(async () => {
    for (const close of closers.reverse()) await close();
  });

  it('carries each result as a next event, then complete, and ends', async (t) => {
    const stream = await openStream(t, url, { body: { query: 'subscription { ticks(count: 3) }' } });
    assert.equal(stream.status, 200);
    assert.match(stream.headers['content-type']!, /^text\/event-stream/);
    await stream.ended();
    assert.deepEqual(
      stream.events.map(({ event, data }) => [event, data]),
      [...[1, 2, 3].map((ticks) => ['next', { data: { ticks } }]), ['complete', undefined]],
    );
    assert.ok(stream.text.endsWith('event: complete\ndata:\n\n'));
  });

  it('sends its headers and a comment before the first event', async (t) => {
    const probe = createProbe(t);
    const stream = await openStream(t, url, { body: { query: LIVE, variables: { token: probe.token } } });
    assert.equal(stream.status, 200);
    await waitFor('the comment', () => stream.text === ':\n\n');
    await waitFor('the source', () => probe.starts === 1);
    probe.push(1);
    assert.deepEqual(await stream.take(1), [{ event: 'next', data: { data: { live: { value: 1 } } }, id: undefined }]);
    stream.leave();
    await waitFor('the source to be released', () => probe.returns === 1);
  });

  it('carries the result of a query and of a mutation', async (t) => {
    for (const [query, data] of [
      ['{ hello }', { hello: 'world' }],
      ['mutation { shout(text: "hi") }', { shout: 'HI' }],
    ] as const) {
      const stream = await openStream(t, url, { body: { query } });
      await stream.ended();
      assert.deepEqual(
        stream.events.map((event) => event.data),
        [{ data }, undefined],
      );
    }
  });

  it('carries the errors of an operation that is refused', async (t) => {
    const stream = await openStream(t, url, { body: { query: '{ nothing }' } });
    assert.equal(stream.status, 200);
    await stream.ended();
    const [next, complete] = stream.events;
    assert.match(JSON.stringify(next!.data), /"code":"GRAPHQL_VALIDATION_FAILED"/);
    assert.equal(complete!.event, 'complete');
  });

  it('is opened by a GET that a readable page or a preflighted client makes, and by no other', async (t) => {
    const get = `${url}?query=${encodeURIComponent('subscription { ticks(count: 1) }')}`;
    for (const headers of [
      { 'sec-fetch-site': 'same-origin' },
      { origin: 'https://app.example.com', 'sec-fetch-site': 'cross-site' },
      { 'apollo-require-preflight': 'true' },
    ]) {
      const stream = await openStream(t, get, { method: 'GET', headers: headers });
      assert.equal(stream.status, 200);
      await stream.ended();
      assert.equal(stream.events.length, 2);
    }
    for (const [headers, status] of [
      [{}, 400],
      [{ 'sec-fetch-site': 'cross-site' }, 403],
      [{ origin: 'https://evil.example.com' }, 403],
    ] as const) {
      const stream = await openStream(t, get, { method: 'GET', headers: headers });
      assert.equal(stream.status, status);
    }
  });

  it('refuses a mutation by GET', async (t) => {
    const get = `${url}?query=${encodeURIComponent('mutation { shout(text: "hi") }')}`;
    const stream = await openStream(t, get, { method: 'GET', headers: { 'apollo-require-preflight': '1' } });
    await stream.ended();
    assert.deepEqual(stream.events[0]!.data, { errors: [{ message: 'Cannot perform mutations over GET' }] });
  });

  it('answers a request that cannot be read with 400 and the mistake', async (t) => {
    const stream = await openStream(t, url, { headers: { 'content-type': 'application/json' } });
    assert.equal(stream.status, 400);
    await stream.ended();
    assert.match(stream.text, /The body must be JSON, such as .*: Unexpected end of JSON input/);
  });

  it('is the reply to a query only for a client that takes nothing else, or rates it higher', async (t) => {
    for (const [accept, text] of [
      ['application/json, text/event-stream', HELLO],
      ['text/event-stream, multipart/mixed;subscriptionSpec=1.0, application/json', HELLO],
      ['application/json;q=0.5, text/event-stream', HELLO_EVENTS],
      ['text/*', HELLO_EVENTS],
      ['text/event-stream', HELLO_EVENTS],
    ] as const) {
      const stream = await openStream(t, url, { body: { query: '{ hello }' }, headers: { accept } });
      await stream.ended();
      assert.equal(stream.text, text, accept);
    }
  });

  it('counts as a connection and as a stream, not as a request in flight', async (t) => {
    const probe = createProbe(t);
    const stream = await openStream(t, url, { body: { query: LIVE, variables: { token: probe.token } } });
    await waitFor('the source', () => probe.starts === 1);
    await waitFor('no request', async () => (await metric('crier_requests_in_flight')) === 0);
    assert.equal(await metric('crier_streams{transport="sse"}'), 1);
    assert.equal(await metric('crier_connections'), 1);
    assert.equal(await metric('crier_operations'), 1);
    stream.leave();
    await waitFor('its end', async () => (await metric('crier_connections')) === 0);
    assert.equal(await metric('crier_streams{transport="sse"}'), 0);
  });
});

describe('a stream of server-sent events, at a limit', () => {
  it('is no limit for a query, which takes no place of a stream, whatever its client takes', async (t) => {
    const { url, metric } = await startStreams(t, { MAX_CONNECTIONS: '1', MAX_HANDSHAKES_PER_SECOND: '1' });
    const probe = createProbe(t);
    await openStream(t, url, { body: { query: LIVE, variables: { token: probe.token } } });
    await waitFor('the source', () => probe.starts === 1);
    for (const accept of [
      'text/event-stream',
      'text/event-stream, application/json',
      'multipart/mixed;subscriptionSpec=1.0',
    ]) {
      const reply = await openStream(t, url, { body: { query: '{ hello }' }, headers: { accept } });
      await reply.ended();
      assert.equal(reply.status, 200);
      assert.match(reply.text, /{"data":{"hello":"world"}}/);
    }
    assert.equal(await metric('crier_connections'), 1);
    assert.equal(await metric('crier_refusals_total{reason="connections"}'), 0);
  });

  it('is refused with 503 when MAX_CONNECTIONS are open, and names the setting', async (t) => {
    const { url, metric } = await startStreams(t, { MAX_CONNECTIONS: '1' });
    const probe = createProbe(t);
    const body = { query: LIVE, variables: { token: probe.token } };
    await openStream(t, url, { body });
    const refused = await openStream(t, url, { body });
    assert.equal(refused.status, 503);
    assert.ok(refused.headers['retry-after']);
    await refused.ended();
    assert.match(refused.text, /MAX_CONNECTIONS/);
    assert.equal(await metric('crier_refusals_total{reason="connections"}'), 1);
  });

  it('is refused with 429 when its address has as many as it may have', async (t) => {
    const { url } = await startStreams(t, { MAX_CONNECTIONS_PER_ADDRESS: '1' });
    const probe = createProbe(t);
    const body = { query: LIVE, variables: { token: probe.token } };
    const first = await openStream(t, url, { body });
    assert.equal((await openStream(t, url, { body })).status, 429);
    first.leave();
    await waitFor('room', async () => (await openStream(t, url, { body })).status === 200);
  });

  for (const [setting, status] of [
    ['MAX_CONNECTIONS', 503],
    ['MAX_CONNECTIONS_PER_ADDRESS', 429],
    ['MAX_REQUESTS_PER_SECOND_PER_ADDRESS', 429],
  ] as const) {
    it(`is refused by ${setting} to an EventSource as a stream that ends at once, so that it comes back`, async (t) => {
      const { url } = await startStreams(t, { [setting]: '1' });
      const search = new URLSearchParams({ query: LIVE, variables: JSON.stringify({ token: createProbe(t).token }) });
      // A page of this origin; the browser sends nothing else that could tell it from other clients.
      const headers = { 'sec-fetch-site': 'same-origin' };
      const ask = (more = {}) =>
        openStream(t, `${url}?${search.toString()}`, { method: 'GET', headers: { ...headers, ...more } });
      const refused = await waitFor('a refusal', async () => {
        const stream = await ask();
        await waitFor('the first line', () => stream.text !== '');
        return stream.text.startsWith('retry:') ? stream : undefined;
      });
      assert.deepEqual([refused.status, refused.headers['content-type']], [200, 'text/event-stream; charset=utf-8']);
      await refused.ended();
      assert.match(refused.text, new RegExp(`^retry: [123]\\d{3}\n: refused with ${status} .*\\(${setting}\\).*\n\n$`));
      // Other clients see the status: graphql-sse with a reserved stream, and whoever accepts something else, too.
      const others = { accept: 'text/event-stream, application/json' };
      await waitFor('the status', async () => (await ask(others)).status === status);
    });
  }

  it('is refused to an EventSource before anything is done for it', async (t) => {
    let authenticated = 0;
    const graph = defineGraph({
      schema: 'type Event { n: Int } type Subscription { event: Event @kafka(topic: "events") }',
      context: {
        authenticate: () => {
          authenticated++;
          return {};
        },
      },
    });
    const settings = { host: '127.0.0.1', port: 0, logLevel: 'silent', maxConnections: 1, graph } as const;
    const server = await createServer(settings);
    t.after(() => server.close());
    const search = new URLSearchParams({ query: ' subscription { event { n } }' });
    const ask = () =>
      openStream(t, `${server.url!}?${search.toString()}`, {
        method: 'GET',
        headers: { 'sec-fetch-site': 'same-origin' },
      });
    await ask();
    for (let i = 0; i < 5; i++) {
      const refused = await ask();
      await refused.ended();
      assert.match(refused.text, /^retry: .*\n: refused with 503 /);
    }
    assert.equal(authenticated, 1);
  });

  it('receives comments at the interval of pings', async (t) => {
    const { url } = await startStreams(t, { PING_INTERVAL_MS: '20' });
    const probe = createProbe(t);
    const stream = await openStream(t, url, { body: { query: LIVE, variables: { token: probe.token } } });
    await waitFor('two pings', () => stream.text.startsWith(':\n\n:\n\n:\n\n'));
  });

  it('is closed by a drain, and says why', async (t) => {
    const { url, server } = await startStreams(t);
    const probe = createProbe(t);
    const stream = await openStream(t, url, { body: { query: LIVE, variables: { token: probe.token } } });
    await waitFor('the source', () => probe.starts === 1);
    await server.close();
    await stream.ended();
    assert.match(stream.text, /: closed with 1001 The server is shutting down\n\n$/);
    assert.doesNotMatch(stream.text, /event: complete/);
  });

  it('is closed when its client does not read, and its queue exceeds MAX_QUEUE_BYTES', async (t) => {
    const { url, metric } = await startStreams(t, {
      GRAPH: await graphFolder(t, LARGE_EVENTS_GRAPH),
      SAMPLE_INTERVAL_MS: '1',
      MAX_QUEUE_BYTES: '65536',
    });
    const stream = await openStream(t, url, { body: { query: 'subscription { large }' } });
    await stream.take(1);
    stream.pause();
    await waitFor('the close', async () => (await metric('crier_slow_consumers_total')) === 1, 30_000);
    await waitFor('its end', async () => (await metric('crier_connections')) === 0, 30_000);
    assert.equal(await metric('crier_connections_closed_total{code="1013"}'), 1);
  });

  it('is refused while a pipelined mutation waits for its reply, which follows', async (t) => {
    const { url } = await startStreams(t);
    const probe = createProbe(t);
    const post = (body: object) => {
      const text = JSON.stringify(body);
      return `POST /graphql HTTP/1.1\r\nhost: a\r\naccept: text/event-stream, application/json\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
    };
    const subscription = post({ query: LIVE, variables: { token: probe.token } });
    const mutation = post({ query: 'mutation { shout(text: "hi") }' });
    const { reply } = await sendRaw(t, Number(new URL(url).port), subscription + mutation);
    await waitFor('the reply to the mutation', () => reply.text.includes('{"data":{"shout":"HI"}}'));
    assert.match(reply.text, /^HTTP\/1\.1 400 [^]*A stream may not be requested while another request/);
    assert.equal(probe.starts, 0);
  });

  it('is closed when its client pipelines another request', async (t) => {
    const { url } = await startStreams(t);
    const probe = createProbe(t);
    const { port } = new URL(url);
    const text = JSON.stringify({ query: LIVE, variables: { token: probe.token } });
    const { socket, reply } = await sendRaw(
      t,
      Number(port),
      `POST /graphql HTTP/1.1\r\nhost: a\r\naccept: text/event-stream\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
    );
    await waitFor('the source', () => probe.starts === 1);
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await waitFor('the end', () => reply.isClosed);
    assert.equal(reply.text.match(/HTTP\/1.1 /g)!.length, 1);
    await waitFor('the release', () => probe.returns === 1);
  });
});
