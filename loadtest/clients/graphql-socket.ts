import { WebSocket } from 'ws';

const PING = Buffer.from('{"type":"ping"');

export interface GraphqlSocketOptions {
  readonly port: number;
  /** Payload of `connection_init`. Default: none. */
  readonly params?: object | undefined;
  readonly isCompressed?: boolean;
  /** Each message of the server after its acknowledgement but pings, which are answered. */
  readonly onMessage: (message: Buffer, socket: WebSocket) => void;
}

/** Opens a connection of graphql-transport-ws on `ws`. Resolves when it is acknowledged. @throws Error when it ends before */
export function openGraphqlSocket({
  port,
  params,
  isCompressed = false,
  onMessage,
}: GraphqlSocketOptions): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws', {
    perMessageDeflate: isCompressed,
    skipUTF8Validation: true,
  });
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('close', (code) =>
      reject(new Error(`the connection was closed with ${code} before its acknowledgement`)),
    );
    socket.once('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: params })));
    socket.once('message', () => {
      socket.on('message', (message: Buffer) => {
        if (PING.equals(message.subarray(0, PING.length))) socket.send('{"type":"pong"}');
        else onMessage(message, socket);
      });
      resolve(socket);
    });
  });
}

/** Opens a WebSocket that sends nothing. */
export function openBareSocket(port: number, isCompressed: boolean): Promise<WebSocket> {
  const options = { perMessageDeflate: isCompressed };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws', options);
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('open', () => resolve(socket));
  });
}

/** Sends a subscription. Returns its id. */
export function subscribe(socket: WebSocket, payload: object, id: string = crypto.randomUUID()): string {
  socket.send(JSON.stringify({ id, type: 'subscribe', payload }));
  return id;
}

/** Calls `open` this many times, a number at a time, because a server listens with a bounded backlog. */
export async function openMany<Opened>(
  count: number,
  open: (index: number) => Promise<Opened>,
  atOnce = 100,
): Promise<Opened[]> {
  const all: Opened[] = [];
  while (all.length < count) {
    const from = all.length;
    all.push(...(await Promise.all(Array.from({ length: Math.min(atOnce, count - from) }, (_, i) => open(from + i)))));
  }
  return all;
}
