import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Handshakes } from '../../../../src/gateway/connections/handshakes.ts';
import { ConnectingTurns } from '../../../../src/gateway/fanout/scheduling/connecting-turns.ts';
import type { ConnectingClients } from '../../../../src/gateway/fanout/scheduling/connecting-turns.ts';
import { TurnSlices } from '../../../../src/gateway/fanout/scheduling/turn-slices.ts';
import type { OtherTurns } from '../../../../src/gateway/fanout/scheduling/turn-slices.ts';
import { waitFor } from '../../../support/wait-for.ts';

const CLIENTS = 200;
/** Most connections between two rounds of events: those of the turns without one, and that of the turn with it. */
const MAX_BETWEEN = 65;

/**
 * A loop whose turns are full of events while clients connect at once. Counts the connections between slices of events until the last client
 * is connected.
 */
async function flood(t: TestContext, othersOf: (server: Server) => OtherTurns | undefined): Promise<number[]> {
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
  const slices = new TurnSlices(10, () => undefined, othersOf(server));
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

function connecting(server: Server): OtherTurns {
  const handshakes = new Handshakes();
  handshakes.watch(server);
  return new ConnectingTurns(handshakes);
}

/** Clients of which one more connects in each turn, or none. */
function clientsOf(areArriving: boolean) {
  const arrivals = { continue: areArriving };
  const runs: number[] = [];
  const clients: ConnectingClients = {
    areWaiting: areArriving,
    start: () => undefined,
    takeArrivals: () => arrivals.continue,
    run: (ms) => void runs.push(ms),
  };
  return { turns: new ConnectingTurns(clients), runs, arrivals };
}

/** Time that clients have had before a round, in ms, in turns of 1 ms each. */
function windowBefore(turns: ConnectingTurns, endedAt: number): number {
  let now = endedAt;
  while (turns.take(now, endedAt)) now++;
  return now - endedAt;
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
    const between = await flood(t, () => undefined);
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
    const { turns } = clientsOf(false);
    assert.deepEqual([turns.take(1, 0), turns.take(2, 1)], [false, false]);
  });

  it('allows longer slices in a round after clients have connected, and in no other one', () => {
    const { turns, arrivals } = clientsOf(true);
    assert.equal(turns.maxSliceMs, 0);
    const start = windowBefore(turns, 0);
    assert.equal(turns.maxSliceMs, 20);
    turns.endSlice(start + 10, undefined);
    arrivals.continue = false;
    assert.equal(turns.take(start + 11, start + 11), false);
    assert.equal(turns.maxSliceMs, 0);
  });

  it('runs handshakes in each turn that it takes, and at once while no job waits', () => {
    const { turns, runs } = clientsOf(true);
    assert.equal(turns.take(0, 0), true);
    assert.equal(turns.take(1, undefined), false);
    assert.equal(runs.length, 2);
  });

  it('takes no turn from jobs that waited when their round began', () => {
    const { turns } = clientsOf(true);
    const start = windowBefore(turns, 0);
    turns.endSlice(start + 10, 0);
    assert.equal(turns.take(start + 11, 0), false);
    turns.endSlice(start + 20, start + 1);
    assert.equal(turns.take(start + 21, start + 1), true);
  });

  it('runs one handshake in each turn of a round, so that clients get in while a round takes seconds', () => {
    const { turns, runs } = clientsOf(true);
    const start = windowBefore(turns, 0);
    const before = runs.length;
    for (let now = start + 10; now < start + 2000; now += 10) assert.equal(turns.take(now, 0), false);
    assert.deepEqual(runs.slice(before), new Array<number>(199).fill(0));
  });

  it('gives clients a turn after each round, also if sockets took longer than the time for clients', () => {
    const { turns } = clientsOf(true);
    for (let now = 1000; now < 2000; now += 200) {
      assert.equal(turns.take(now, now), true);
      assert.equal(turns.take(now + 100, now), false);
      turns.endSlice(now + 110, undefined);
    }
  });

  it('gives clients less time the longer rounds take, but never none', () => {
    const windowAfter = (roundMs: number): number => {
      const { turns } = clientsOf(true);
      let endedAt = 0;
      for (let round = 0; round < 10; round++) {
        const startedAt = endedAt + windowBefore(turns, endedAt);
        endedAt = startedAt + roundMs;
        turns.endSlice(endedAt, undefined);
      }
      return windowBefore(turns, endedAt);
    };
    const windows = [20, 80, 500].map(windowAfter);
    assert.ok(windows[0]! > windows[1]! && windows[1]! > windows[2]! && windows[2]! > 0, windows.join(' '));
    assert.ok(windows[0]! < MAX_BETWEEN, windows.join(' '));
  });
});
