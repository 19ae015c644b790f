import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { createLog } from '../../../src/base/log.ts';
import { startServer } from '../../../src/server.ts';
import { metricOf } from '../../support/metric.ts';
import { openSocket, subscribeMessage } from '../../support/socket.ts';
import { testConfig } from '../../support/switches.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createProbe } from './probe.ts';
import { CONFORMANCE_GRAPH } from './reference.ts';

const LIVE = 'subscription ($token: String!) { live(token: $token) { value } }';

async function start(t: TestContext) {
  const config = testConfig({ HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0', GRAPH: CONFORMANCE_GRAPH });
  const server = await startServer(config, createLog('silent'), { onFatal: (error) => assert.fail(error) });
  t.after(() => server.close());
  const socket = await openSocket(t, `ws://127.0.0.1:${server.port}/graphql`);
  await socket.init();
  return { socket, admin: `http://127.0.0.1:${server.adminPort}` };
}

describe('a connection that the server closes', () => {
  it('receives the messages of the same turn before the close frame', async (t) => {
    const { socket } = await start(t);
    socket.subscribe('a', '{ hello }');
    await socket.take(2);
    socket.sendTogether(subscribeMessage('b', '{ hello }'), { type: 'nonsense' });
    assert.equal((await socket.expectClose()).code, 4400);
    assert.deepEqual(
      socket.unread.map(({ type, id }) => `${type} ${id}`),
      ['next b', 'complete b'],
    );
  });

  it('has no operations before its peer has answered the close frame', async (t) => {
    const { socket, admin } = await start(t);
    const probe = createProbe(t);
    socket.subscribe('a', LIVE, { token: probe.token });
    await waitFor('the operation', async () => (await metricOf(admin, 'crier_operations')) === 1);
    socket.pause();
    socket.send('no JSON');
    await waitFor('the end of the operation', async () => (await metricOf(admin, 'crier_operations')) === 0);
    assert.equal(await metricOf(admin, 'crier_connections'), 1);
  });
});
