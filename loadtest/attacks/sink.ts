import { setPriority } from 'node:os';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { answerCalls } from '../processes/process-call.ts';

/** The lowest priority on its core. */
const NICENESS = 19;

setPriority(NICENESS);

answerCalls({
  /** Reads an attack and sends only `connection_ack`. Resolves with its port. */
  listen: () =>
    new Promise<number>((resolve) => {
      const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
      server.on('connection', (socket) => socket.once('message', () => socket.send('{"type":"connection_ack"}')));
      server.on('listening', () => resolve((server.address() as AddressInfo).port));
    }),
});

// Keeps the process alive for the calls.
process.channel?.ref();
