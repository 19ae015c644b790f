import { setPriority } from 'node:os';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { answerCalls } from '../processes/process-call.ts';

/** Below everything else on its core. */
const NICENESS = 19;

setPriority(NICENESS);

answerCalls({
  /** Takes an attack and answers nothing but the acknowledgement. Resolves with its port. */
  listen: () =>
    new Promise<number>((resolve) => {
      const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
      server.on('connection', (socket) => socket.once('message', () => socket.send('{"type":"connection_ack"}')));
      server.on('listening', () => resolve((server.address() as AddressInfo).port));
    }),
});

// It waits for the calls.
process.channel?.ref();
