import type { WebSocket } from 'ws';
import { openGraphqlSocket, subscribe } from '../clients/graphql-socket.ts';

/** What a client of one key has received. */
export interface StateClient {
  readonly key: number;
  readonly seqs: number[];
  /** Anything but results: a gap, an incomplete state, an error. */
  readonly notes: string[];
  /** From its connect to its first event. */
  firstMs: number | undefined;
  socket: WebSocket | undefined;
}

interface Received {
  readonly type: string;
  readonly payload?: {
    readonly data?: { readonly order?: { readonly seq: number } | null };
    readonly errors?: unknown;
    readonly extensions?: { readonly gap?: true; readonly stateComplete?: false };
  };
}

const QUERY = 'subscription ($key: ID!) { order(key: $key) { seq } }';

/** Opens `count` clients at once, each with a subscription to a key of its own. */
export function openStateClients(port: number, count: number): StateClient[] {
  return Array.from({ length: count }, (_, key) => openStateClient(port, key));
}

function openStateClient(port: number, key: number): StateClient {
  const began = performance.now();
  const client: StateClient = { key, seqs: [], notes: [], firstMs: undefined, socket: undefined };
  const onMessage = (data: Buffer) => {
    const { type, payload } = JSON.parse(data.toString()) as Received;
    if (type === 'next' && payload?.data?.order) {
      client.firstMs ??= performance.now() - began;
      client.seqs.push(payload.data.order.seq);
      if (payload.extensions?.gap) client.notes.push('gap');
      if (payload.extensions?.stateComplete === false) client.notes.push('incomplete state');
    } else client.notes.push(data.toString().slice(0, 200));
  };
  openGraphqlSocket({ port, onMessage }).then(
    (socket) => {
      client.socket = socket;
      socket.on('close', (code) => client.notes.push(`closed with ${code}`));
      subscribe(socket, { query: QUERY, variables: { key: String(key) } }, '1');
    },
    (error: unknown) => client.notes.push((error as Error).message),
  );
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
