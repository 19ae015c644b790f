import { once } from 'node:events';
import { WebSocket } from 'ws';

/** What a client of one key has received. */
export interface StateClient {
  readonly key: number;
  readonly seqs: number[];
  /** Anything but results: a gap, an incomplete state, an error. */
  readonly notes: string[];
  /** From its connect to its first event. */
  firstMs: number | undefined;
  readonly socket: WebSocket;
}

interface Received {
  readonly type: string;
  readonly payload?: {
    readonly data?: { readonly order?: { readonly seq: number } | null };
    readonly errors?: unknown;
    readonly extensions?: { readonly gap?: true; readonly stateComplete?: false };
  };
}

/** Opens `count` clients at once, each with a subscription to a key of its own. Resolves when all sockets are open. */
export async function openStateClients(url: string, count: number): Promise<StateClient[]> {
  const clients = Array.from({ length: count }, (_, key) => openStateClient(url, key));
  await Promise.all(clients.map(({ socket }) => once(socket, 'open')));
  return clients;
}

function openStateClient(url: string, key: number): StateClient {
  const began = performance.now();
  const socket = new WebSocket(url, 'graphql-transport-ws');
  const client: StateClient = { key, seqs: [], notes: [], firstMs: undefined, socket };
  const query = `subscription ($key: ID!) { order(key: $key) { seq } }`;
  socket.on('open', () => socket.send('{"type":"connection_init"}'));
  socket.on('message', (data: Buffer) => {
    const { type, payload } = JSON.parse(data.toString()) as Received;
    if (type === 'connection_ack') {
      socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query, variables: { key: String(key) } } }));
    } else if (type === 'ping') socket.send('{"type":"pong"}');
    else if (type === 'next' && payload?.data?.order) {
      client.firstMs ??= performance.now() - began;
      client.seqs.push(payload.data.order.seq);
      if (payload.extensions?.gap) client.notes.push('gap');
      if (payload.extensions?.stateComplete === false) client.notes.push('incomplete state');
    } else client.notes.push(data.toString().slice(0, 200));
  });
  socket.on('close', (code) => client.notes.push(`closed with ${code}`));
  socket.on('error', () => undefined);
  return client;
}

/** What is wrong with what a client has received, given the last update of its key; undefined: nothing. */
export function faultOf({ key, seqs, notes }: StateClient, last: number): string | undefined {
  if (notes.length > 0) return `key ${key}: ${notes[0]}`;
  if (seqs.length === 0) return `key ${key}: no first event`;
  for (let i = 1; i < seqs.length; i++) {
    if (seqs[i] !== seqs[i - 1]! + 1) return `key ${key}: ${seqs[i]} follows ${seqs[i - 1]}`;
  }
  return seqs.at(-1) === last ? undefined : `key ${key}: ends with ${seqs.at(-1)}, not with ${last}`;
}
