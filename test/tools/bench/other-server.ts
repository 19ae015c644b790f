import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { buildSchema } from 'graphql';
import type { GraphQLSchema } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';

/** Listens on a free local port until the end of the test. Resolves with the address. */
export async function listen(t: TestContext, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export interface GraphqlWsOptions {
  server?: Server;
  /** 0: it waits for ever. */
  initTimeoutMs?: number;
  /** Answers the `complete` of a client by one of its own, as Mercurius does. */
  sendsCompleteBack?: boolean;
}

/** graphql-ws's own server. Its source makes no events, fails or ends as its fields say. */
export async function startGraphqlWs(
  t: TestContext,
  { server = createServer(), initTimeoutMs = 3000, sendsCompleteBack = false }: GraphqlWsOptions = {},
): Promise<string> {
  const sockets = useServer(
    {
      schema: schema(),
      connectionInitWaitTimeout: initTimeoutMs,
      onComplete: ({ extra }, id, { query }) => {
        if (sendsCompleteBack && query.includes('pushed')) extra.socket.send(JSON.stringify({ type: 'complete', id }));
      },
      onConnect: ({ connectionParams }) => connectionParams?.['token'] !== 'wrong',
    },
    new WebSocketServer({ server, path: '/graphql' }),
  );
  t.after(() => sockets.dispose());
  return listen(t, server);
}

/**
 * A server of the legacy sub-protocol graphql-ws, as far as its first messages. Resolves with its URL.
 * @param select the sub-protocol, of those that the client offers
 */
export async function startLegacy(
  t: TestContext,
  select: (offered: ReadonlySet<string>) => string | false,
): Promise<string> {
  const server = createServer();
  new WebSocketServer({ server, handleProtocols: select }).on('connection', (socket) => {
    if (socket.protocol !== 'graphql-ws') return socket.close(1002);
    return socket.on('message', () => socket.send('{"type":"connection_ack"}'));
  });
  return `ws://${await listen(t, server)}`;
}

function schema(): GraphQLSchema {
  const built = buildSchema(`
    type Query { hello: String }
    type Mutation { push(n: Int!): Int }
    type Subscription { pushed: Int ending: Int endingLater: Int endingSeries: String }
  `);
  const sources = new Set<PushedSource>();
  const { pushed, ending, endingLater, endingSeries } = built.getSubscriptionType()!.getFields();
  pushed!.subscribe = () => new PushedSource(sources);
  ending!.subscribe = async function* () {
    yield await Promise.resolve({ ending: 1 });
  };
  endingLater!.subscribe = async function* () {
    yield await Promise.resolve({ endingLater: 1 });
    await delay(500);
  };
  let operations = 0;
  endingSeries!.subscribe = async function* () {
    const operation = operations++;
    for (let n = 0; n < 40; n++) {
      yield { endingSeries: `${operation}-${n}` };
      await delay(50);
    }
  };
  built.getMutationType()!.getFields()['push']!.resolve = (_: unknown, { n }: { n: number }) => {
    for (const source of sources) source.push(n);
    return n;
  };
  return built;
}

/** Events of the mutation `push`, as they come. */
class PushedSource implements AsyncIterableIterator<{ pushed: number }> {
  readonly #sources: Set<PushedSource>;
  readonly #events: number[] = [];
  #hasEnded = false;
  #wake = () => {};

  constructor(sources: Set<PushedSource>) {
    this.#sources = sources;
    sources.add(this);
  }

  push(event: number): void {
    this.#events.push(event);
    this.#wake();
  }

  async next(): Promise<IteratorResult<{ pushed: number }>> {
    while (this.#events.length === 0 && !this.#hasEnded) await new Promise<void>((resolve) => (this.#wake = resolve));
    const pushed = this.#events.shift();
    return pushed === undefined ? { done: true, value: undefined } : { done: false, value: { pushed } };
  }

  return(): Promise<IteratorResult<{ pushed: number }>> {
    this.#sources.delete(this);
    this.#hasEnded = true;
    this.#wake();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
