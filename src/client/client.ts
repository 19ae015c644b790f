import { createClient as createStockClient } from 'graphql-ws/client';
import type {
  Client,
  ClientOptions as StockClientOptions,
  ConnectionInitMessage,
  FormattedExecutionResult,
  Sink,
  SubscribePayload,
} from 'graphql-ws/client';
import { backoffMs } from './backoff.ts';
import { Deadline } from './deadline.ts';
import { iterating } from './iterating.ts';
import { resuming, resumptions } from './resuming.ts';

type ConnectionParams = ConnectionInitMessage['payload'];

/** graphql-ws's own, with these defaults: `keepAlive` and `connectionAckWaitTimeout` 10 s, `retryAttempts` without end, `retryWait` full jitter. */
export interface ClientOptions extends Omit<StockClientOptions, 'connectionParams'> {
  /**
   * Of `connection_init`. A function is asked for each connection; `isRefused`: the server has closed one with 4403 since the last that
   * it accepted, so a token that was kept is to be renewed. Where it throws, `on.error` is told, and it is asked again later.
   */
  connectionParams?: ConnectionParams | ((isRefused: boolean) => ConnectionParams | Promise<ConnectionParams>);
}

/** What crier says beside the data of an event: `result.extensions`. */
export interface EventExtensions {
  /** Names the event: a later subscribe to the same may go on behind it, with `extensions: { resume: { cursor } }`. */
  cursor?: string;
  /** Of the first event after a reconnect. false: events may have been missed, and none of them is replayed. */
  resumed?: boolean;
  /** Events may have been missed before this one. */
  gap?: true;
}

/** graphql-ws's own; the extensions of a result are those of crier where no others are named. */
export interface EventClient extends Client {
  subscribe<Data = Record<string, unknown>, Extensions = EventExtensions>(
    payload: SubscribePayload,
    sink: Sink<FormattedExecutionResult<Data, Extensions>>,
  ): () => void;
  iterate<Data = Record<string, unknown>, Extensions = EventExtensions>(
    payload: SubscribePayload,
  ): AsyncIterableIterator<FormattedExecutionResult<Data, Extensions>>;
}

const FORBIDDEN = 4403;
const ACKNOWLEDGEMENT_TIMEOUT = 4504;
/** Longest wait for the answer to a close frame, in ms. */
const CLOSE_TIMEOUT_MS = 1_000;

/**
 * graphql-ws's client for who must not miss an event: it goes on behind the last one after a reconnect, tries for ever, finds dead
 * connections, and asks for a new token where the old one is refused. An unanswered ping ends the connection after half of `keepAlive`.
 *
 * Final are the close codes that graphql-ws calls fatal (4400, 4401, 4406, 4409, 4429, 4500 and most of 1xxx), errors of an operation,
 * and what a listener of the application throws.
 */
export function createClient(options: ClientOptions): EventClient {
  const { connectionParams, keepAlive = 10_000, connectionAckWaitTimeout = 10_000 } = options;
  let socket: { onmessage: unknown; close(code: number, reason: string): void } | undefined;
  let isRefused = false;
  // graphql-ws's terminate() would let the old socket speak on, beside the new one: under the same ids.
  const terminate = () => {
    if (socket) socket.onmessage = null;
    client.terminate();
  };
  const closing = new Deadline(terminate);
  const opening = new Deadline(() => {
    if (!socket) return terminate();
    socket.close(ACKNOWLEDGEMENT_TIMEOUT, 'Connection acknowledgement timeout');
    closing.set(CLOSE_TIMEOUT_MS);
  });
  const answer = new Deadline(terminate);
  const sending = resumptions(options.jsonMessageReplacer);

  const client = createStockClient({
    retryAttempts: Infinity,
    retryWait: (attempt) => new Promise((resolve) => setTimeout(resolve, backoffMs(attempt))),
    // An Error without a code is the application's, or says that this is no GraphQL server; what the network does is an event.
    shouldRetry: (problem) => !(problem instanceof Error) || 'code' in problem,
    ...options,
    keepAlive,
    connectionAckWaitTimeout: 0, // `opening`
    jsonMessageReplacer: sending.replacer,
    webSocketImpl: heard(options.webSocketImpl ?? globalThis.WebSocket),
    connectionParams: async () => {
      try {
        return typeof connectionParams === 'function' ? await connectionParams(isRefused) : connectionParams;
      } catch (error) {
        // Thrown on, it would close the socket with 4005, which is fatal.
        options.on?.error?.(error);
        terminate();
        return undefined;
      }
    },
  });

  const onConnecting = () => opening.set(connectionAckWaitTimeout);
  const onEnd = () => {
    socket = undefined;
    opening.clear();
    closing.clear();
    answer.clear();
  };
  if (options.lazy === false) onConnecting();
  client.on('connecting', onConnecting);
  client.on('opened', (opened) => (socket = opened as typeof socket));
  client.on('connected', () => {
    opening.clear();
    isRefused = false;
  });
  client.on('ping', (isReceived) => isReceived || answer.set(keepAlive / 2));
  client.on('pong', (isReceived) => isReceived && answer.clear());
  // A slow link may have much to carry before the pong.
  client.on('message', () => answer.refresh());
  client.on('error', onEnd);
  client.on('closed', (event) => {
    onEnd();
    isRefused ||= (event as { code: number }).code === FORBIDDEN;
  });

  const disposed = new AbortController();
  const subscribe = resuming(client, backoffMs, disposed.signal, sending);
  const dispose = async () => {
    disposed.abort();
    // It rejects with why there is no connection.
    await Promise.resolve(client.dispose()).catch(() => undefined);
  };
  return { ...client, subscribe, iterate: iterating(subscribe), terminate, dispose };
}

type SocketClass = new (
  url: string,
  protocols: string,
) => {
  addEventListener(type: 'error', listener: () => void): void;
};

/** terminate() leaves a socket that is opening without listeners, and `ws` throws the error of its handshake where nobody listens. */
function heard(implementation: unknown): unknown {
  if (typeof implementation !== 'function') return implementation;
  return class extends (implementation as SocketClass) {
    constructor(url: string, protocols: string) {
      super(url, protocols);
      this.addEventListener('error', () => undefined);
    }
  };
}
