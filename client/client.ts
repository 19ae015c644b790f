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
import { TokenRefresh, tokenOf } from './token-refresh.ts';

type ConnectionParams = ConnectionInitMessage['payload'];

/** The options of graphql-ws. Defaults: `keepAlive` and `connectionAckWaitTimeout` 10 s, `retryAttempts` Infinity, `retryWait` full jitter. */
export interface ClientOptions extends Omit<StockClientOptions, 'connectionParams'> {
  /**
   * Payload of `connection_init`. A function is called for each connection, and when the token is about to expire. `isStale` is true then,
   * and if the server has closed a connection with 4403 since it last accepted one: a cached token must be renewed. If the function
   * throws, `on.error` is called, and it is called again later.
   */
  connectionParams?: ConnectionParams | ((isStale: boolean) => ConnectionParams | Promise<ConnectionParams>);
  /**
   * How long before its token expires a connection receives a new one, in ms; default: 30,000, or a fifth of the token's life if that is
   * less. `connectionParams` must be a function whose result has `token`, `authorization` or `Authorization`. 0: it receives none, and the
   * client reconnects instead.
   */
  refreshAhead?: number;
}

/** What crier adds to each event: `result.extensions`. */
export interface EventExtensions {
  /** Names the event. A later subscribe to the same field and arguments resumes after it: `extensions: { resume: { cursor } }`. */
  cursor?: string;
  /** On the first event after a reconnect. False: events may have been missed, and none is replayed. */
  resumed?: boolean;
  /** Events may have been missed before this one. */
  gap?: true;
  /** Older events that this one stands for, of a field with `pace` or `slow: LATEST`. */
  skipped?: number;
}

/** The client of graphql-ws. The type of a result's extensions defaults to crier's. */
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
 * A graphql-ws client that resumes after a reconnect, retries without end, detects dead connections and asks for a new token when
 * the old one is refused. A ping that is not answered within half of `keepAlive` ends the connection.
 *
 * A subscription ends with the close codes that graphql-ws calls fatal (4400, 4401, 4406, 4409, 4429, 4500 and most of 1xxx), with
 * errors of its operation, and with an error that a listener of the application throws.
 */
export function createClient(options: ClientOptions): EventClient {
  const { connectionParams, keepAlive = 10_000, connectionAckWaitTimeout = 10_000, refreshAhead = 30_000 } = options;
  let socket: { onmessage: unknown; close(code: number, reason: string): void; send(data: string): void } | undefined;
  let isRefused = false;
  // graphql-ws's terminate() keeps the old socket's listener: its messages would arrive beside those of the new socket, with the same ids.
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
  const sendToken = async () => {
    const opened = socket;
    if (typeof connectionParams !== 'function') return;
    try {
      const payload = tokenOf(await connectionParams(true));
      if (payload && opened === socket) opened?.send(JSON.stringify({ type: 'ping', payload }, sending.replacer));
    } catch (error) {
      options.on?.error?.(error);
    }
  };
  const refresh = new TokenRefresh(refreshAhead, () => void sendToken());

  const client = createStockClient({
    retryAttempts: Infinity,
    retryWait: (attempt) => new Promise((resolve) => setTimeout(resolve, backoffMs(attempt))),
    // Network failures are events. An Error without a code is the application's, or says that the server does not speak the protocol.
    shouldRetry: (problem) => !(problem instanceof Error) || 'code' in problem,
    ...options,
    keepAlive,
    connectionAckWaitTimeout: 0, // `opening`
    jsonMessageReplacer: sending.replacer,
    webSocketImpl: withErrorListener(options.webSocketImpl ?? globalThis.WebSocket),
    connectionParams: async () => {
      try {
        return typeof connectionParams === 'function' ? await connectionParams(isRefused) : connectionParams;
      } catch (error) {
        // If it were rethrown, graphql-ws would close the socket with 4005, which is fatal.
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
    refresh.clear();
  };
  if (options.lazy === false) onConnecting();
  client.on('connecting', onConnecting);
  client.on('opened', (opened) => (socket = opened as typeof socket));
  client.on('connected', (_socket, payload) => {
    opening.clear();
    isRefused = false;
    refresh.onPayload(payload);
  });
  client.on('ping', (isReceived) => isReceived || answer.set(keepAlive / 2));
  client.on('pong', (isReceived, payload) => {
    if (!isReceived) return;
    answer.clear();
    refresh.onPayload(payload);
  });
  // On a slow link many messages may precede the pong.
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
    // It rejects if the connection failed.
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

/** terminate() removes the listeners of a connecting socket, and `ws` throws a handshake error that has no listener. */
function withErrorListener(implementation: unknown): unknown {
  if (typeof implementation !== 'function') return implementation;
  return class extends (implementation as SocketClass) {
    constructor(url: string, protocols: string) {
      super(url, protocols);
      this.addEventListener('error', () => undefined);
    }
  };
}
