import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';

export interface ExpiringClientsOptions {
  readonly url: string;
  readonly query: string;
  /** For each client: its first token and when that expires (in seconds since 1970), then the one after the reconnect. */
  readonly tokens: readonly ClientTokens[];
}

export interface ClientTokens {
  readonly first: string;
  readonly exp: number;
  /** May be given after the client has connected. */
  second?: string;
}

/** What happened to one client. */
export interface ClientTimes {
  /** Time from its expiry to the close, in ms; negative: it was closed before. */
  closedAfterMs?: number;
  closeCode?: number;
  /** Time from the close to the acknowledgement of the next connection, in ms. */
  backAfterMs?: number;
  /** Events that arrived between the expiry and the next connection. */
  lateEvents: number;
  failure?: string;
}

/** Stock graphql-ws clients with their own waits before a reconnect, in batches, because a server listens with a bounded backlog. */
const BATCH = 100;

/** Opens all clients. Resolves when all are subscribed. */
export async function openClients(options: ExpiringClientsOptions): Promise<ClientTimes[]> {
  const times: ClientTimes[] = [];
  for (let first = 0; first < options.tokens.length; first += BATCH) {
    const batch = options.tokens.slice(first, first + BATCH);
    await Promise.all(batch.map((tokens) => openClient(tokens, options, times)));
  }
  return times;
}

function openClient(tokens: ClientTokens, { url, query }: ExpiringClientsOptions, all: ClientTimes[]) {
  const { first, exp } = tokens;
  const times: ClientTimes = { lateEvents: 0 };
  all.push(times);
  let connections = 0;
  let closedAt = 0;
  return new Promise<void>((resolve, reject) => {
    const fail = (failure: string) => {
      times.failure = failure;
      reject(new Error(failure));
    };
    const client = createClient({
      url,
      webSocketImpl: WebSocket,
      connectionParams: () => ({ token: connections === 0 ? first : tokens.second }),
      on: {
        connected: (socket) => {
          if (++connections > 1) times.backAfterMs = Date.now() - closedAt;
          // It is answered after the subscribe message.
          setImmediate(() => (socket as WebSocket).send('{"type":"ping"}'));
        },
        pong: () => resolve(),
        closed: (event) => {
          if (connections > 1) return;
          closedAt = Date.now();
          times.closedAfterMs = closedAt - exp * 1000;
          times.closeCode = (event as { code: number }).code;
        },
      },
    });
    client.subscribe(
      { query },
      {
        next: () => {
          if (connections === 1 && Date.now() > exp * 1000) times.lateEvents++;
        },
        error: (problem) => fail(problem instanceof Error ? problem.message : JSON.stringify(problem)),
        complete: () => fail('complete'),
      },
    );
  });
}
