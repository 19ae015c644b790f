import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { ApolloClient, HttpLink, InMemoryCache, gql } from '@apollo/client/core';
import { createClient as createUrqlClient, fetchExchange } from '@urql/core';
import type { Client as UrqlClient } from '@urql/core';
import { createClient as createSseClient } from 'graphql-sse';
import type { Client as WebSocketClient, ClientOptions } from 'graphql-ws';
import { onEnd, pipe, subscribe as subscribeTo } from 'wonka';
import { WebSocket } from 'ws';
import { createClient as createCrierClient } from '../../client/client.ts';
import { importFromPage } from '../docs/page-modules.ts';
import { CLIENTS_PAGE, messagesOf, untold } from './client.ts';
import type { Access, Client, StartClient } from './client.ts';

// Node 20 has none, and Apollo Client asks whether an error is one of its sockets.
globalThis.WebSocket ??= WebSocket as unknown as typeof globalThis.WebSocket;

export function socketOptions(url: string, access?: Access) {
  return {
    url: url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    ...(access && { connectionParams: () => ({ token: tokenOf(access) }) }),
  };
}

const tokenOf = ({ tokenFile }: Access): string => readFileSync(tokenFile, 'utf8');

/** `fetch` with the token, and with further headers. */
export function fetchWith(access?: Access, further: Readonly<Record<string, string>> = {}): typeof fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    for (const [name, value] of Object.entries(further)) headers.set(name, value);
    if (access) headers.set('authorization', `Bearer ${tokenOf(access)}`);
    return fetch(input, { ...init, headers });
  };
}

/** graphql-ws's client that sends its cursor, as the page shows it. */
export const resumeModule = () =>
  importFromPage<{ createResumingClient: (options: ClientOptions) => WebSocketClient }>(CLIENTS_PAGE, 'resume.js');

/** A client of graphql-ws, as the page shows it, below what another module makes of it. */
export async function overSocket(install: () => Promise<(client: WebSocketClient) => Client>): Promise<StartClient> {
  const clientOf = await install();
  const { createResumingClient } = await resumeModule();
  return (url, access) => clientOf(createResumingClient(socketOptions(url, access)));
}

/** What another module of the page makes of such a client. @param parent as of `importFromPage` */
export async function clientOfPage<Made, Rest extends readonly unknown[]>(
  name: 'apollo' | 'urql' | 'relay',
  parent?: string,
): Promise<(client: WebSocketClient, ...rest: Rest) => Made> {
  type Make = (client: WebSocketClient, ...rest: Rest) => Made;
  const exports = await importFromPage<Readonly<Record<string, Make>>>(CLIENTS_PAGE, `${name}.js`, parent);
  return exports[`${name}Of`]!;
}

/** Closes a client of graphql-ws, which rejects if it connects at this time. */
export const disposed = (client: Pick<SinkClient, 'dispose'>) =>
  Promise.resolve(client.dispose()).catch(() => undefined);

export async function installApollo(): Promise<(client: WebSocketClient) => Client> {
  const apolloOf = await clientOfPage<ApolloClient, []>('apollo');
  return (client) => apollo(apolloOf(client), () => disposed(client));
}

export async function installUrql(): Promise<(client: WebSocketClient) => Client> {
  const urqlOf = await clientOfPage<UrqlClient, [url: string]>('urql');
  return (client) => urql(urqlOf(client, 'http://127.0.0.1/'), () => disposed(client));
}

export const apolloOverMultipart: StartClient = (url, access) =>
  apollo(new ApolloClient({ cache: new InMemoryCache(), link: new HttpLink({ uri: url, fetch: fetchWith(access) }) }));

function apollo(client: ApolloClient, disconnect: () => unknown = () => undefined): Client {
  return {
    subscribe: (query, variables) => {
      const of = untold(() => subscription.unsubscribe());
      const subscription = client.subscribe({ query: gql(query), variables }).subscribe({
        next: ({ data, error }) => void (error ? of.errors.push(...messagesOf(error)) : of.events.push(data)),
        error: (error) => void of.errors.push(...messagesOf(error)),
        complete: () => (of.isComplete = true),
      });
      return of;
    },
    close: () => {
      client.stop();
      return disconnect();
    },
  };
}

export const urqlOverEvents: StartClient = (url, access) =>
  urql(
    createUrqlClient({
      url,
      preferGetMethod: false,
      fetchSubscriptions: true,
      exchanges: [fetchExchange],
      fetch: fetchWith(access),
    }),
  );

function urql(client: UrqlClient, disconnect: () => unknown = () => undefined): Client {
  return {
    subscribe: (query, variables) => {
      const of = untold(() => subscription.unsubscribe());
      const subscription = pipe(
        client.subscription(query, variables),
        onEnd(() => (of.isComplete = true)),
        subscribeTo(({ data, error }) => {
          // At its end urql hands on the last result once more, with `hasNext: false`.
          const messages = error ? messagesOf(error) : [];
          if (error ? isDeepStrictEqual(messages, of.errors) : data === of.events.at(-1)) return;
          if (error) of.errors.push(...messages);
          else of.events.push(data);
        }),
      );
      return of;
    },
    close: disconnect,
  };
}

/** graphql-sse's own client. */
export function graphqlSse(singleConnection: boolean): StartClient {
  return (url, access) =>
    overSink(createSseClient({ url, singleConnection, retryAttempts: 0, fetchFn: fetchWith(access) }));
}

/** `@crier/client`. */
export const crierClient: StartClient = (url, access) => overSink(createCrierClient(socketOptions(url, access)));

interface SinkClient {
  subscribe(
    payload: { readonly query: string; readonly variables: Record<string, unknown> },
    sink: {
      next(result: { readonly data?: unknown; readonly errors?: unknown }): void;
      error(error: unknown): void;
      complete(): void;
    },
  ): () => void;
  dispose(): unknown;
}

/** A client of graphql-ws, or one with its `subscribe`. */
export function overSink(client: SinkClient): Client {
  return {
    subscribe: (query, variables) => {
      const of = untold(() => stop());
      const stop = client.subscribe(
        { query, variables: { ...variables } },
        {
          next: ({ data, errors }) => void (errors ? of.errors.push(...messagesOf(errors)) : of.events.push(data)),
          error: (error) => void of.errors.push(...messagesOf(error)),
          complete: () => (of.isComplete = true),
        },
      );
      return of;
    },
    close: () => disposed(client),
  };
}
