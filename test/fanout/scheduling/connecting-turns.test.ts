import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Arrivals } from '../../../src/connections/arrivals.ts';
import { ConnectingTurns } from '../../../src/fanout/scheduling/connecting-turns.ts';
import { TurnSlices } from '../../../src/fanout/scheduling/turn-slices.ts';
import { waitFor } from '../../support/wait-for.ts';

const CLIENTS = 200;
/** Most connections between two slices of events. */
const MAX_BETWEEN = 21;

/**
 * A loop whose turns are full of events while clients connect at once. Counts the connections between slices of events until the last client
 * is connected.
 */
async function flood(t: TestContext, isTurnTaken: (server: Server) => () => boolean): Promise<number[]> {
  const server = createServer();
  const between = [0];
  let accepted = 0;
  server.on('connection', () => {
    accepted++;
    between[between.length - 1]!++;
  });
  server.listen({ port: 0, host: '127.0.0.1', backlog: 2 * CLIENTS });
  await waitFor('the server', () => server.listening);
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const slices = new TurnSlices(10, () => undefined, isTurnTaken(server));
  const sockets = Array.from({ length: CLIENTS }, () => connect(port, '127.0.0.1'));
  t.after(() => sockets.forEach((socket) => socket.destroy()));
  const event = (isSpent: () => boolean) => {
    while (!isSpent());
    between.push(0);
    if (accepted < CLIENTS) slices.add(event);
    return true;
  };
  slices.add(event);
  await waitFor('all clients', () => accepted === CLIENTS);
  return between;
}

function connecting(server: Server): () => boolean {
  const arrivals = new Arrivals();
  arrivals.watch(server);
  return new ConnectingTurns(arrivals.take).take;
}

describe('ConnectingTurns', () => {
  it('lets several clients connect between two slices of events', async (t) => {
    const between = await flood(t, connecting);
    assert.ok(between.length < CLIENTS * 0.7, `${between.length} slices for ${CLIENTS} clients`);
  });

  it('serves events between the connections of a storm', async (t) => {
    const between = await flood(t, connecting);
    assert.ok(Math.max(...between) <= MAX_BETWEEN, `connections between two slices: ${between.join(' ')}`);
  });

  it('is what lets a flooded loop accept: without it each client waits for a slice of events', async (t) => {
    const between = await flood(t, () => () => false);
    assert.ok(between.length >= CLIENTS * 0.9, `${between.length} slices for ${CLIENTS} clients`);
  });

  it('admits a client behind sockets that send nothing, and sockets that have closed meanwhile', async (t) => {
    const server = createServer((_, response) => response.end('here'));
    server.listen({ port: 0, host: '127.0.0.1', backlog: 2 * CLIENTS });
    await waitFor('the server', () => server.listening);
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const silent = Array.from({ length: CLIENTS }, () => connect(port, '127.0.0.1'));
    t.after(() => silent.forEach((socket) => socket.destroy()));
    for (const socket of silent.slice(CLIENTS / 2)) socket.once('connect', () => socket.destroy());
    const slices = new TurnSlices(10, () => undefined, connecting(server));
    let isAdmitted = false;
    const event = (isSpent: () => boolean) => {
      while (!isSpent());
      if (!isAdmitted) slices.add(event);
      return true;
    };
    slices.add(event);
    const client = connect(port, '127.0.0.1');
    t.after(() => client.destroy());
    client.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    client.on('data', (data) => (isAdmitted ||= data.includes('here')));
    await waitFor('the reply', () => isAdmitted);
  });

  it('takes no turn while no client connects', () => {
    const turns = new ConnectingTurns(() => false);
    assert.deepEqual([turns.take(), turns.take()], [false, false]);
  });

  it('leaves a turn to events after the last one that clients may have, and begins again', () => {
    const turns = new ConnectingTurns(() => true);
    const taken = Array.from({ length: 3 * MAX_BETWEEN }, () => turns.take());
    assert.equal(taken[0], true);
    const first = taken.indexOf(false);
    assert.ok(first > 0 && first < MAX_BETWEEN, `${first} turns`);
    assert.equal(taken[first + 1], true);
  });
});
