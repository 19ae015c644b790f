import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { createClient } from '@crier/client';
import { OperationTypeNode } from 'graphql';
import { tap } from 'rxjs';
import { noteExtensions, setLive } from './connection.ts';

/** Resumes each subscription after its last event when the socket was lost. To Apollo's link it is a client of graphql-ws. */
const events = createClient({
  url: `${location.origin.replace(/^http/, 'ws')}/graphql`,
  lazy: false,
  on: { connected: () => setLive(true), closed: () => setLive(false) },
});

const noteGaps = new ApolloLink((operation, forward) =>
  forward(operation).pipe(
    tap(({ extensions }) => {
      if (!noteExtensions(extensions)) void apollo.refetchQueries({ include: 'active' });
    }),
  ),
);

/** Subscriptions over the WebSocket; queries and mutations over POST. */
export const apollo = new ApolloClient({
  link: ApolloLink.split(
    ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
    noteGaps.concat(new GraphQLWsLink(events)),
    new HttpLink({ uri: '/graphql' }),
  ),
  // One entity for each order: whatever brings its news, every part of the page shows them.
  cache: new InMemoryCache({ typePolicies: { Order: { keyFields: ['orderId'] } } }),
});
