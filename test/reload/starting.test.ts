import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { freePorts } from '../../stack/port.ts';
import { spawnPod } from '../end-to-end/pod-process.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { waitFor } from '../support/wait-for.ts';
import { SCHEMA, resolversOf } from './stage.ts';

/** Accepts connections and never answers. Its `host:port`. */
async function silentServer(t: TestContext): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a reload that is asked for while the pod starts', () => {
  it('follows the start if a signal asks: the pod serves the folder as it is then', async (t) => {
    const waiting = `
      import { existsSync, writeFileSync } from 'node:fs';
      const file = (name) => new URL('./' + name, import.meta.url);
      writeFileSync(file('loading'), '');
      while (!existsSync(file('go'))) await new Promise((resolve) => setTimeout(resolve, 5));
      ${resolversOf('first')}`;
    const folder = await graphFolder(t, { 'schema.graphql': SCHEMA, 'resolvers.js': waiting });
    const pod = spawnPod(t, { GRAPH: folder });
    await waitFor('the modules of the graph', () => existsSync(join(folder, 'loading')), 30_000);
    await writeFile(join(folder, 'resolvers.js'), resolversOf('second'));
    pod.process.kill('SIGHUP');
    await writeFile(join(folder, 'go'), '');
    await pod.started();
    await pod.counts('crier_graph_reloads_total{outcome="swapped"}', 1);
    const response = await fetch(pod.endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ version }' }),
    });
    assert.deepEqual(await response.json(), { data: { version: 'second' } });
  });

  it('is answered with 503 if a request asks', async (t) => {
    const folder = await graphFolder(t, { 'schema.graphql': SCHEMA, 'resolvers.js': resolversOf('first') });
    const [port] = await freePorts(1);
    const silent = await silentServer(t);
    spawnPod(t, { GRAPH: folder, ADMIN_PORT: `${port}`, KAFKA_BROKERS: silent, REDIS_URL: `redis://${silent}` });
    const response = await waitFor(
      'the admin port',
      () => fetch(`http://127.0.0.1:${port}/admin/reload`, { method: 'POST' }).catch(() => undefined),
      30_000,
    );
    assert.equal(response.status, 503);
    assert.match(await response.text(), /the pod is starting: ask again/);
  });
});
