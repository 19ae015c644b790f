import type { WebSocket } from 'ws';
import { openGraphqlSocket } from '../clients/graphql-socket.ts';

const VERSION = '"version":';

/** Opens a client that reads only the version of each event. `onFault`: it received something else, or was closed. */
export async function openReceiver(
  port: number,
  onEvent: (version: number, message: Buffer) => void,
  onFault: (fault: string) => void,
): Promise<WebSocket> {
  const onMessage = (message: Buffer) => {
    const at = message.indexOf(VERSION);
    if (at < 0) return onFault(`no event: ${message.toString('utf8', 0, 200)}`);
    onEvent(Number.parseInt(message.toString('latin1', at + VERSION.length, at + 24), 10), message);
  };
  const socket = await openGraphqlSocket({ port, onMessage });
  socket.on('close', (code) => onFault(`closed with ${code}`));
  return socket;
}
