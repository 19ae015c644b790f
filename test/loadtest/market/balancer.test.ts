import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Balancer } from '../../../loadtest/market/pods/balancer.ts';
import { waitFor } from '../../support/wait-for.ts';

/** An echo server that first sends its name. */
async function pod(t: TestContext, name: string): Promise<number> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.write(name);
    socket.pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function visit(t: TestContext, port: number): Promise<{ socket: Socket; greeting: string }> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  t.after(() => socket.destroy());
  const [greeting] = (await once(socket, 'data')) as [Buffer];
  return { socket, greeting: greeting.toString() };
}

async function startBalancer(t: TestContext): Promise<{ balancer: Balancer; port: number }> {
  const balancer = new Balancer();
  t.after(() => balancer.close());
  return { balancer, port: await balancer.start() };
}

describe('Balancer', () => {
  it('distributes new connections round-robin, and keeps the connections of a removed pod', async (t) => {
    const [a, b] = [await pod(t, 'a'), await pod(t, 'b')];
    const { balancer, port } = await startBalancer(t);
    balancer.targets = [a, b];
    const visits = [await visit(t, port), await visit(t, port)];
    assert.deepEqual(visits.map(({ greeting }) => greeting).sort(), ['a', 'b']);
    balancer.targets = [b];
    assert.deepEqual([(await visit(t, port)).greeting, (await visit(t, port)).greeting], ['b', 'b']);
    for (const { socket } of visits) {
      socket.write('still here');
      assert.equal(String((await once(socket, 'data'))[0]), 'still here');
    }
  });

  it('forwards the end of either side', async (t) => {
    const { balancer, port } = await startBalancer(t);
    balancer.targets = [await pod(t, 'a')];
    const { socket } = await visit(t, port);
    socket.end();
    await once(socket, 'close');

    const ends: string[] = [];
    const closing = createServer((pod) => pod.on('end', () => ends.push('client')).end('bye'));
    closing.listen(0, '127.0.0.1');
    await once(closing, 'listening');
    t.after(() => closing.close());
    balancer.targets = [(closing.address() as AddressInfo).port];
    const ended = await visit(t, port);
    assert.equal(ended.greeting, 'bye');
    ended.socket.resume();
    await waitFor('the end of the pod at the client', () => ended.socket.readableEnded);
    ended.socket.end();
    await waitFor('the end of the client at the pod', () => ends.length === 1);
  });

  it('ends a connection that no pod accepts', async (t) => {
    const { balancer, port } = await startBalancer(t);
    await once(connect(port, '127.0.0.1').resume(), 'close');
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    balancer.targets = [(gone.address() as AddressInfo).port];
    gone.close();
    await once(gone, 'close');
    const refused = connect(port, '127.0.0.1').resume();
    refused.on('error', () => undefined);
    await once(refused, 'close');
  });
});
