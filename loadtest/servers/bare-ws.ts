import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

/** The reference for memory: `ws` alone, with crier's options. */
const httpServer = createServer();
const server = new WebSocketServer({ server: httpServer, perMessageDeflate: false, clientTracking: true });
server.on('connection', (socket) => {
  socket.on('message', () => undefined);
  socket.on('error', () => undefined);
});
httpServer.listen(Number(process.env['PORT']), '127.0.0.1');
