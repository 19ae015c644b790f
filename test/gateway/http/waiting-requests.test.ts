import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { DocumentCache } from '../../../src/graph/documents/document-cache.ts';
import { RequestedDocuments } from '../../../src/graph/documents/requested-documents.ts';
import { DocumentQueue } from '../../../src/graph/documents/document-queue.ts';
import { Executor } from '../../../src/graph/execution/executor.ts';
import { loadGraph } from '../../../src/graph/loading/load.ts';
import { GraphRuntime } from '../../../src/graph/runtime.ts';
import { TrustedProxies } from '../../../src/config/addresses/client-address.ts';
import { Endpoint } from '../../../src/gateway/http/endpoint.ts';
import { RequestAdmission } from '../../../src/gateway/http/request-admission.ts';
import { Authenticator } from '../../../src/gateway/identity/authenticator.ts';
import { createLog } from '../../../src/base/log.ts';
import { CONFORMANCE_GRAPH } from '../websocket/reference.ts';
import { NO_ROUTERS } from '../connections/no-routers.ts';

const UNLIMITED = { maxInFlight: 0, maxPerSecond: 0 };
const MAX_QUEUE_BYTES = 16 * 1024;

/** Starts an endpoint whose queue has room for the given bytes; returns its URL. */
async function startEndpoint(t: TestContext): Promise<string> {
  const log = createLog('silent');
  const graph = await loadGraph(CONFORMANCE_GRAPH);
  const cache = new DocumentCache(graph.schema, {
    maxLength: 10_000,
    maxTokens: 1000,
    maxDepth: 8,
    maxAliases: 15,
    maxDirectives: 50,
    hasIntrospection: true,
    maxEntries: 100,
    maxBytes: 1_000_000,
    maxInvalidEntries: 10,
  });
  const runtime = new GraphRuntime({
    graph,
    documents: new RequestedDocuments({ cache }),
    executor: new Executor(graph.schema, { jitAfterUses: 0 }),
    backends: { send: () => Promise.reject(new Error('there is none')) },
    channelPrefix: '',
    log,
    onInternalError: () => undefined,
  });
  const queue = new DocumentQueue({
    sliceMs: 1,
    hasEvents: () => false,
    totalShare: 1,
    maxBytes: MAX_QUEUE_BYTES,
    maxWaitMs: 10_000,
    burstMs: 60_000,
    share: 1,
  });
  const endpoint = new Endpoint({
    runtime,
    authenticator: new Authenticator({ tokens: undefined, timeoutMs: 5000, log, onFailure: () => undefined }),
    documents: queue,
    admission: new RequestAdmission(
      { maxInFlight: 0, maxInFlightWithoutUser: 0, user: UNLIMITED, address: UNLIMITED },
      () => false,
    ),
    origins: { allowed: [], own: '' },
    routers: NO_ROUTERS,
    proxies: new TrustedProxies([]),
    maxBodyBytes: 1024 * 1024,
    executionTimeoutMs: 10_000,
    log,
    callbacks: { open: () => assert.fail('no router') },
    streams: {
      requestOf: () => undefined,
      refusalAt: () => undefined,
      open: () => assert.fail(),
      ofOne: () => assert.fail(),
    },
    onRefused: () => undefined,
    refusedOrigins: { report: () => undefined },
  });
  const server = createServer((request, response) => void endpoint.receive(request, response));
  t.after(() => server.close().closeAllConnections());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
}

const LONG = 'x'.repeat(MAX_QUEUE_BYTES);
let documentCount = 0;

async function ask(url: string, rest: object): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: `query Q${documentCount++} { hello }`, ...rest }),
  });
  const { data, errors } = (await response.json()) as { data?: unknown; errors?: { extensions: { code: string } }[] };
  return errors ? errors[0]!.extensions.code : data;
}

describe('an HTTP request whose document waits', () => {
  it('counts with its variables, its extensions and the rest of its body', async (t) => {
    const url = await startEndpoint(t);
    assert.deepEqual(await ask(url, {}), { hello: 'world' });
    assert.equal(await ask(url, { variables: { name: LONG } }), 'OVERLOADED');
    assert.equal(await ask(url, { extensions: { name: LONG } }), 'OVERLOADED');
    assert.equal(await ask(url, { nothing: LONG }), 'OVERLOADED');
  });
});
