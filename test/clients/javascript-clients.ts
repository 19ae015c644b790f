import { ApolloClient, HttpLink, InMemoryCache, gql } from '@apollo/client/core';
import type { ApolloLink } from '@apollo/client/core';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { createClient as createUrqlClient, fetchExchange, subscriptionExchange } from '@urql/core';
import type { Client as UrqlClient } from '@urql/core';
import { createClient as createSseClient } from 'graphql-sse';
import { createClient } from 'graphql-ws';
import { onEnd, pipe, subscribe as subscribeTo } from 'wonka';
import { WebSocket } from 'ws';
import { messagesOf, untold } from './client.ts';
import type { Client } from './client.ts';

/** Starts a client of an endpoint, whose address begins with `http`. */
export type StartClient = (url: string) => Client;

/** A stock graphql-ws client, over which other clients subscribe. */
export function webSocketClient(url: string) {
  return createClient({ url: url.replace('http', 'ws'), webSocketImpl: WebSocket });
}

export const apolloOverWebSocket: StartClient = (url) => {
  // Node 20 has none, and Apollo Client asks whether an error is one of its sockets.
  globalThis.WebSocket ??= WebSocket as unknown as typeof globalThis.WebSocket;
  const client = webSocketClient(url);
  return apollo(new GraphQLWsLink(client), () => client.dispose());
};

export const apolloOverMultipart: StartClient = (url) => apollo(new HttpLink({ uri: url }));

function apollo(link: ApolloLink, disconnect: () => unknown = () => undefined): Client {
  const client = new ApolloClient({ cache: new InMemoryCache(), link });
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

export const urqlOverWebSocket: StartClient = (url) => {
  const client = webSocketClient(url);
  const exchange = subscriptionExchange({
    forwardSubscription: ({ query = '', variables = {} }) => ({
      subscribe: (sink) => ({
        unsubscribe: client.subscribe(
          { query, variables: { ...variables } },
          sink as Parameters<typeof client.subscribe>[1],
        ),
      }),
    }),
  });
  return urql(createUrqlClient({ url, preferGetMethod: false, exchanges: [exchange] }), () => client.dispose());
};

export const urqlOverEvents: StartClient = (url) =>
  urql(createUrqlClient({ url, preferGetMethod: false, fetchSubscriptions: true, exchanges: [fetchExchange] }));

function urql(client: UrqlClient, disconnect: () => unknown = () => undefined): Client {
  return {
    subscribe: (query, variables) => {
      const of = untold(() => subscription.unsubscribe());
      const subscription = pipe(
        client.subscription(query, variables),
        onEnd(() => (of.isComplete = true)),
        subscribeTo(({ data, error }) => void (error ? of.errors.push(...messagesOf(error)) : of.events.push(data))),
      );
      return of;
    },
    close: disconnect,
  };
}

/** graphql-sse's own client. */
export function graphqlSse(singleConnection: boolean): StartClient {
  return (url) => {
    const client = createSseClient({ url, singleConnection, retryAttempts: 0 });
    return {
      subscribe: (query, variables) => {
        const of = untold(() => stop());
        const stop = client.subscribe(
          { query, variables },
          {
            next: ({ data, errors }) => void (errors ? of.errors.push(...messagesOf(errors)) : of.events.push(data)),
            error: (error) => void of.errors.push(...messagesOf(error)),
            complete: () => (of.isComplete = true),
          },
        );
        return of;
      },
      close: () => client.dispose(),
    };
  };
}
