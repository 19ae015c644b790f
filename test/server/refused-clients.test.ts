import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { clientFrame } from '../../src/tools/conformance/client-frame.ts';
import { startServer } from '../../src/server.ts';
import { metricOf } from '../support/metric.ts';
import { openSocket } from '../support/socket.ts';
import type { Socket, SocketOptions } from '../support/socket.ts';
import { testConfig } from '../support/switches.ts';
import { waitFor } from '../support/wait-for.ts';
import { createProbe } from '../gateway/websocket/probe.ts';
import { CONFORMANCE_GRAPH } from '../gateway/websocket/reference.ts';

const LIVE = 'subscription ($token: String!) { live(token: $token) { value } }';

type Line = Readonly<Record<string, unknown>>;

/** A crier at level info whose lines about refused clients the test reads. */
async function startLogged(t: TestContext, settings: Readonly<Record<string, string>>) {
  const lines: Line[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line) as Line) });
  const config = testConfig({ HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0', GRAPH: CONFORMANCE_GRAPH, ...settings });
  const server = await startServer(config, log, { onFatal: (error) => assert.fail(error) });
  t.after(() => server.close());
  const url = `127.0.0.1:${server.port}/graphql`;
  return {
    http: `http://${url}`,
    connect: (options?: SocketOptions) => openSocket(t, `ws://${url}`, options),
    metric: (name: string) => metricOf(`http://127.0.0.1:${server.adminPort}`, name),
    refusals: () =>
      lines.filter(({ msg }) => / was refused by a limit$|^a connection was closed for /.test(String(msg))),
  };
}

describe('the log of refused clients', () => {
  it('has one line within 10 s for each limit that refuses a client, with the setting', async (t) => {
    const { http, connect, metric, refusals } = await startLogged(t, {
      MAX_CONNECTIONS: '1',
      MAX_MESSAGE_BYTES: '1024',
    });
    await connect();
    for (let i = 0; i < 3; i++) assert.equal((await (await connect()).expectClose()).code, 1013);
    const headers = { 'content-type': 'application/json' };
    const { status } = await fetch(http, {
      method: 'POST',
      headers,
      body: JSON.stringify({ query: 'x'.repeat(2000) }),
    });
    assert.equal(status, 413);
    assert.deepEqual(
      refusals().map(({ reason, setting, suppressed }) => [reason, setting, suppressed]),
      [
        ['connections', 'MAX_CONNECTIONS', 0],
        ['body', 'MAX_MESSAGE_BYTES', 0],
      ],
    );
    assert.equal(await metric('crier_refusals_total{reason="connections"}'), 3);
    assert.equal(await metric('crier_refusals_total{reason="body"}'), 1);
  });

  it('has a line for each code with which crier closes a client, and for refused operations', async (t) => {
    const { connect, metric, refusals } = await startLogged(t, {
      MAX_MESSAGE_BYTES: '1024',
      MAX_OPERATIONS_PER_CONNECTION: '1',
      MAX_MESSAGES_PER_SECOND: '1',
      COMPRESSION: 'on',
    });
    const { token } = createProbe(t);
    const operations = await connect();
    await operations.init();
    for (const id of ['a', 'b', 'c']) operations.subscribe(id, LIVE, { token });
    assert.equal((await operations.next()).type, 'error');
    const closing = async (code: number, provoke: (socket: Socket) => void, options?: SocketOptions) => {
      const socket = await connect(options);
      provoke(socket);
      assert.equal((await socket.expectClose()).code, code);
      const name = `crier_connections_closed_total{code="${code}"}`;
      await waitFor('the metric', async () => (await metric(name)) > 0);
    };
    await closing(1002, (socket) => socket.write(clientFrame('{}', { isMasked: false })));
    await closing(1007, (socket) => socket.write(clientFrame(Buffer.from([0xff]))));
    await closing(1008, (socket) => socket.sendTogether(...Array.from({ length: 2000 }, () => ({ type: 'ping' }))));
    await closing(1009, (socket) => socket.send('x'.repeat(5000)));
    const beyondWindow = clientFrame(Buffer.from([0x03, 0x02]), { reserved: 4 });
    await closing(1013, (socket) => socket.write(beyondWindow), { isOfferingCompression: true });
    await closing(4400, (socket) => socket.send('no JSON'));
    const [operation, ...closed] = refusals();
    assert.match(String(operation!['reason']), /^A connection may have 1 operations at once/);
    assert.deepEqual(
      closed.map(({ code }) => code),
      [1002, 1007, 1008, 1009, 1013, 4400],
    );
    assert.ok(closed.every(({ reason }) => typeof reason === 'string' && reason !== ''));
  });

  it('has a line for a peer that answers no ping', async (t) => {
    const { connect, refusals } = await startLogged(t, { PING_INTERVAL_MS: '100' });
    const silent = await connect();
    silent.pause();
    const line = await waitFor('the line', () => refusals()[0]);
    assert.deepEqual([line['code'], line['reason']], [1006, 'Nothing was received for PING_INTERVAL_MS']);
  });
});
