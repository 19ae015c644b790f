import { SignJWT } from 'jose';
import { WebSocket } from 'ws';

export interface IdleSocketOptions {
  readonly port: number;
  /** The subscription of each; undefined: none, and no GraphQL. */
  readonly query: string | undefined;
  /** True: each has a token of 800 bytes and of its own user. */
  readonly hasToken: boolean;
  /** True: each offers permessage-deflate. */
  readonly isCompressed: boolean;
}

/** Signs the tokens. */
export const SECRET = 'a secret of this benchmark only, 32 bytes';
/** Makes a token 800 bytes long. */
const FILLING = 'x'.repeat(426);
/** Concurrent handshakes. */
const BATCH = 100;

let tokens = 0;

/** Opens `count` sockets that are subscribed. */
export async function openMany(count: number, options: IdleSocketOptions): Promise<WebSocket[]> {
  const sockets: WebSocket[] = [];
  while (sockets.length < count) {
    const batch = Math.min(BATCH, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: batch }, () => open(options)))));
  }
  return sockets;
}

async function initMessage(hasToken: boolean): Promise<string> {
  if (!hasToken) return '{"type":"connection_init"}';
  const claims = {
    iss: 'https://login.example.com/',
    sub: `user-${tokens++}`,
    scope: 'read:auctions',
    filling: FILLING,
  };
  const jwt = new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).setIssuedAt().setExpirationTime('1h');
  const token = await jwt.sign(new TextEncoder().encode(SECRET));
  return JSON.stringify({ type: 'connection_init', payload: { token } });
}

/** Opens a connection. With a subscription, waits for the pong after the subscribe message. */
async function open({ port, query, hasToken, isCompressed }: IdleSocketOptions): Promise<WebSocket> {
  const init = await initMessage(hasToken);
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws', {
      perMessageDeflate: isCompressed,
    });
    socket.once('error', reject);
    socket.once('open', () => {
      if (query === undefined) return resolve(socket);
      socket.send(init);
    });
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as { type: string; payload?: unknown };
      if (message.type === 'connection_ack') {
        socket.send(JSON.stringify({ id: crypto.randomUUID(), type: 'subscribe', payload: { query } }));
        socket.send('{"type":"ping"}');
      }
      if (message.type === 'pong') resolve(socket);
      if (message.type === 'error')
        reject(new Error(`the subscription was refused: ${JSON.stringify(message.payload)}`));
    });
  });
}
