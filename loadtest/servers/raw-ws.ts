import { createServer } from 'node:http';
import { Redis } from 'ioredis';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';

/**
 * Plain broadcast without GraphQL, the floor for every GraphQL server. Each Redis message becomes one buffer for all sockets whose
 * URL names its channel: a `next` message of the right size with the same id for all.
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
