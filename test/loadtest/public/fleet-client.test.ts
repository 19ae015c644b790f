import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { FleetClient, FleetClientOptions } from '../../../loadtest/public/fleet-client.ts';
import { RawClient } from '../../../loadtest/public/raw-client.ts';
import { StockClient } from '../../../loadtest/public/stock-client.ts';
import { waitFor } from '../../support/wait-for.ts';

const QUERY = 'subscription ($auction_id: Int!) { auction_updated(auction_id: $auction_id) { version } }';

interface Message {
  readonly id?: string;
  readonly type: string;
  readonly payload?: { readonly query: string };
}

/** A server that keeps what it receives, and answers nothing by itself. */
async function silentServer(t: TestContext) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', path: '/graphql' });
  t.after(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  const sockets: { readonly socket: WebSocket; readonly messages: Message[] }[] = [];
  server.on('connection', (socket) => {
    const messages: Message[] = [];
    sockets.push({ socket, messages });
    socket.on('message', (bytes: Buffer) => messages.push(JSON.parse(bytes.toString()) as Message));
  });
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, sockets };
}

for (const Client of [StockClient, RawClient] as (new (options: FleetClientOptions) => FleetClient)[]) {
  describe(Client.name, () => {
    /** A client whose server acknowledges when `acknowledge` is called. */
    async function connected(t: TestContext) {
      const { port, sockets } = await silentServer(t);
      // A client connects again for ever.
      t.mock.timers.enable({ apis: ['setTimeout'] });
      const seen = { versions: [] as number[], connected: 0, closed: 0, faults: [] as string[] };
      const client = new Client({
        port: () => port,
        localAddress: '127.0.0.2',
        delays: 'tuned',
        minOfflineMs: 0,
        query: QUERY,
        onVersion: (version) => seen.versions.push(version),
        onConnected: () => seen.connected++,
        onClosed: () => seen.closed++,
        onFault: (fault) => seen.faults.push(fault),
      });
      const { socket, messages } = await waitFor('connection_init', () =>
        sockets.find((one) => one.messages.length > 0),
      );
      const acknowledge = () => socket.send('{"type":"connection_ack"}');
      // A code after which @crier/client does not connect again.
      const end = async () => {
        socket.close(4400);
        await waitFor('the end', () => seen.closed === 1);
      };
      return { client, socket, messages, seen, acknowledge, end };
    }

    it('is open from the acknowledgement of the connection to its end', async (t) => {
      const { client, seen, acknowledge, end } = await connected(t);
      assert.deepEqual([client.isOpen, seen.connected], [false, 0]);
      acknowledge();
      await waitFor('the connection', () => seen.connected === 1);
      assert.equal(client.isOpen, true);
      await end();
      assert.equal(client.isOpen, false);
    });

    it('subscribes with an id of 36 characters, and reads the version of an event', async (t) => {
      const { socket, messages, seen, acknowledge, end } = await connected(t);
      acknowledge();
      const { id, payload } = await waitFor('subscribe', () => messages.find(({ type }) => type === 'subscribe'));
      assert.equal(payload!.query, QUERY);
      assert.match(id!, /^[-0-9a-f]{36}$/);
      const event = { data: { auction_updated: { version: 7 } }, extensions: { cursor: 'c' } };
      socket.send(JSON.stringify({ id, type: 'next', payload: event }));
      await waitFor('the event', () => seen.versions.length > 0);
      assert.deepEqual([seen.versions, seen.faults], [[7], []]);
      await end();
    });
  });
}
