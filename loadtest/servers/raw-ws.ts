import { createServer } from 'node:http';
import { Redis } from 'ioredis';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';

/**
 * Plain broadcast, the floor that a GraphQL server is measured against: each Redis message becomes one buffer, which is sent to
 * every socket of the channel that its URL names. No GraphQL; a `next` message of the right size, its id the same for all.
 */
const ID = '00000000-0000-4000-8000-000000000000';

const subscriber = new Redis(process.env['REDIS_URL']!);
const channels = new Map<string, Set<WebSocket>>();

subscriber.on('message', (channel, payload) => {
  const message = Buffer.from(`{"id":"${ID}","type":"next","payload":{"data":${payload}}}`);
  for (const socket of channels.get(channel) ?? []) socket.send(message, { binary: false });
});

const httpServer = createServer();
const server = new WebSocketServer({ server: httpServer, perMessageDeflate: false });
server.on('connection', (socket, request) => {
  const channel = new URL(request.url!, 'http://localhost').searchParams.get('channel')!;
  let sockets = channels.get(channel);
  if (!sockets) {
    channels.set(channel, (sockets = new Set()));
    void subscriber.subscribe(channel);
  }
  sockets.add(socket);
  socket.on('error', () => undefined);
  socket.on('close', () => sockets.delete(socket));
});
httpServer.listen(Number(process.env['PORT']), '127.0.0.1');
