import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Handshakes, MAX_WAITING_HANDSHAKES } from '../../../src/gateway/connections/handshakes.ts';
import { waitFor } from '../../support/wait-for.ts';

const UPGRADE = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

/** A server whose upgrades wait in `handshakes`; `run` is called for each. */
async function startServer(t: TestContext, run: (text: string) => void) {
  const handshakes = new Handshakes();
  const server = createServer();
  handshakes.watch(server);
  let waiting = 0;
  server.on('upgrade', (_, socket, head) => {
    waiting++;
    // Nobody reads it, so it does not notice that its client has left.
    t.after(() => socket.destroy());
    handshakes.add(socket, () => run(head.toString()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const open = (text = '') => {
    const socket = connect(port, '127.0.0.1');
    t.after(() => socket.destroy());
    socket.write(UPGRADE + text);
    return socket;
  };
  return { handshakes, open, waiting: () => waiting };
}

describe('Handshakes', () => {
  it('run in their order of arrival, for as long as they may', async (t) => {
    const ran: string[] = [];
    const { handshakes, open, waiting } = await startServer(t, (text) => ran.push(text));
    for (const name of ['a', 'b', 'c']) {
      const before = waiting();
      open(name);
      await waitFor('the upgrade', () => waiting() > before);
    }
    assert.deepEqual(ran, []);
    handshakes.run(0);
    assert.deepEqual(ran, ['a']);
    assert.equal(handshakes.areWaiting, true);
    handshakes.run(1000);
    assert.deepEqual(ran, ['a', 'b', 'c']);
    assert.equal(handshakes.areWaiting, false);
  });

  it('wait up to a bound, beyond which the oldest runs at once', () => {
    const handshakes = new Handshakes();
    const ran: number[] = [];
    for (let number = 0; number < MAX_WAITING_HANDSHAKES + 2; number++) {
      handshakes.add(new PassThrough(), () => ran.push(number));
    }
    assert.deepEqual(ran, [0, 1]);
  });

  it('tell of each that begins to wait', () => {
    const handshakes = new Handshakes();
    let told = 0;
    handshakes.start(() => told++);
    handshakes.add(new PassThrough(), () => undefined);
    handshakes.add(new PassThrough(), () => undefined);
    assert.equal(told, 2);
  });

  it('survive a client that resets its connection while it waits, and leave it out', async (t) => {
    const ran: string[] = [];
    const { handshakes, open, waiting } = await startServer(t, (text) => ran.push(text));
    const reset = open('reset');
    await waitFor('the upgrade', () => waiting() === 1);
    reset.resetAndDestroy();
    open('next');
    await waitFor('both upgrades', () => waiting() === 2);
    // A connection that opens later than the reset: the server has read the reset once it reads this one.
    open('last');
    await waitFor('all upgrades', () => waiting() === 3);
    handshakes.run(1000);
    assert.deepEqual(ran, ['next', 'last']);
  });

  it('want a turn for each socket that has arrived, and while they wait', async (t) => {
    const { handshakes, open, waiting } = await startServer(t, () => undefined);
    open();
    await waitFor('the upgrade', () => waiting() === 1);
    assert.deepEqual([handshakes.takeArrivals(), handshakes.takeArrivals()], [true, true]);
    handshakes.run(1000);
    assert.equal(handshakes.takeArrivals(), false);
    open();
    await waitFor('the second upgrade', () => waiting() === 2);
    handshakes.run(1000);
    assert.equal(handshakes.takeArrivals(), true, 'a socket has arrived since');
    assert.equal(handshakes.takeArrivals(), false);
  });
});
