import assert from 'node:assert/strict';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { it } from 'node:test';
import { createServer, defineGraph } from '../../../src/library/crier.ts';

it('an idle HTTP connection is kept for KEEP_ALIVE_TIMEOUT_MS, which replies name', async (t) => {
  const graph = defineGraph({ schema: 'type Subscription { counted: Int @kafka(topic: "counts", payload: "n") }' });
  const options = { host: '127.0.0.1', port: 0, logLevel: 'error', drainDelayMs: 0, drainSpreadMs: 0 } as const;
  const server = await createServer({ ...options, graph, keepAliveTimeoutMs: 65_000 });
  t.after(() => server.close());
  const outgoing = request(server.url!, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'keep-alive' },
  });
  outgoing.end('{"query":"{ __typename }"}');
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  response.resume();
  outgoing.destroy();
  assert.equal(response.headers['keep-alive'], 'timeout=65');
});
