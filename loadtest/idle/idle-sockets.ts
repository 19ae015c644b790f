import { SignJWT } from 'jose';
import type { WebSocket } from 'ws';
import { openBareSocket, openGraphqlSocket, openMany, subscribe } from '../clients/graphql-socket.ts';

export interface IdleSocketOptions {
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

let tokens = 0;

/** Opens `count` sockets that are subscribed. */
export function openIdle(port: number, count: number, options: IdleSocketOptions): Promise<WebSocket[]> {
  return openMany(count, () => open(port, options));
}

async function tokenOf(user: number): Promise<string> {
  const claims = { iss: 'https://login.example.com/', sub: `user-${user}`, scope: 'read:auctions', filling: FILLING };
  const jwt = new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).setIssuedAt().setExpirationTime('1h');
  return jwt.sign(new TextEncoder().encode(SECRET));
}

/** Opens a connection. With a subscription, waits for the pong after the subscribe message. */
async function open(port: number, { query, hasToken, isCompressed }: IdleSocketOptions): Promise<WebSocket> {
  if (query === undefined) return openBareSocket(port, isCompressed);
  const params = hasToken ? { token: await tokenOf(tokens++) } : undefined;
  return new Promise((resolve, reject) => {
    const onMessage = (data: Buffer, socket: WebSocket) => {
      const { type, payload } = JSON.parse(data.toString()) as { type: string; payload?: unknown };
      if (type === 'pong') resolve(socket);
      if (type === 'error') reject(new Error(`the subscription was refused: ${JSON.stringify(payload)}`));
    };
    openGraphqlSocket({ port, params, isCompressed, onMessage }).then((socket) => {
      subscribe(socket, { query });
      socket.send('{"type":"ping"}');
    }, reject);
  });
}
