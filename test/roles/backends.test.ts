import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { MemoryBus } from '../../src/bus/memory/memory-bus.ts';
import { readConfig } from '../../src/config.ts';
import { loadGraph } from '../../src/graph/loading/load.ts';
import { createLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics/metrics.ts';
import { openBackends } from '../../src/roles/backends.ts';
import type { Component } from '../../src/roles/services.ts';
import { waitFor } from '../support/wait-for.ts';

/** The backends of the auction graph; "venue" is a server that answers when the test says so. */
async function createStage(t: TestContext, environment: Readonly<Record<string, string>>) {
  const held: ServerResponse[] = [];
  const server = createServer((_request, response) => void held.push(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const components: Component[] = [];
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const log = createLog('silent');
  const metrics = new Metrics();
  const backends = await openBackends({
    config: readConfig({ ...environment, BACKEND_VENUE_URL: url }),
    graph: await loadGraph('src/graphs/auction'),
    bus: new MemoryBus({ prefix: 'test:', log }),
    log,
    metrics,
    register: (component) => {
      components.unshift(component);
      return component;
    },
  });
  t.after(async () => {
    for (const component of components) await component.close();
    server.closeAllConnections();
    server.close();
  });
  const waiting = async () => {
    const lines = (await metrics.registry.metrics()).split('\n');
    return lines.filter((line) => line.startsWith('crier_backend_requests_waiting'));
  };
  const send = () => backends.send('venue', { method: 'GET', path: '/', authorization: () => undefined });
  return { held, send, waiting };
}

describe('the backends of a gateway', () => {
  it('show how many requests wait while all sockets of a backend are in use', async (t) => {
    const { held, send, waiting } = await createStage(t, { BACKEND_MAX_SOCKETS: '2' });
    assert.deepEqual(await waiting(), []);
    const sending = [send(), send()];
    await waitFor('both sockets', () => held.length === 2);
    assert.deepEqual(await waiting(), ['crier_backend_requests_waiting{backend="venue"} 0']);
    sending.push(send(), send(), send());
    assert.deepEqual(await waiting(), ['crier_backend_requests_waiting{backend="venue"} 3']);
    for (let answered = 0; answered < 5; answered++) {
      await waitFor('the next request', () => held.length > answered);
      held[answered]!.end('{}');
    }
    await Promise.all(sending);
    assert.deepEqual(await waiting(), ['crier_backend_requests_waiting{backend="venue"} 0']);
  });
});
