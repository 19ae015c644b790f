import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { ApolloClient, InMemoryCache, gql } from '@apollo/client/core';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { createClient as createUrqlClient, subscriptionExchange } from '@urql/core';
import type { ExecutionResult } from '@urql/core';
import type { Client } from 'graphql-ws';
import { pipe, subscribe } from 'wonka';
import type { EventExtensions } from '../../client/client.ts';
import type { Scope } from '../support/socket.ts';
import { waitFor } from '../support/wait-for.ts';
import { helperClient } from './received.ts';
import { createStage, TICKS } from './stage.ts';

interface Result {
  readonly data?: { readonly tick: { readonly n: number } };
  readonly extensions?: EventExtensions | undefined;
  readonly error?: unknown;
}

/** urql adds the extensions of a result to those of the results before it. */
const UNTOLD = { resumed: undefined, gap: undefined, initial: undefined };

/** Calls `onResult` with each result of the ticks. */
type Follow = (scope: Scope, client: Client, onResult: (result: Result) => void) => void;

const apollo: Follow = (scope, client, onResult) => {
  const of = new ApolloClient({ cache: new InMemoryCache(), link: new GraphQLWsLink(client) });
  scope.after(() => of.stop());
  of.subscribe({ query: gql(TICKS) }).subscribe((result) => onResult(result as Result));
};

const urql: Follow = (_scope, client, onResult) => {
  const exchange = subscriptionExchange({
    forwardSubscription: ({ query = '', ...request }) => ({
      subscribe: ({ next, ...sink }) => ({
        unsubscribe: client.subscribe<Record<string, unknown>, EventExtensions>(
          { query, ...request },
          {
            ...sink,
            next: ({ extensions, ...result }) =>
              next({ ...result, extensions: { ...UNTOLD, ...extensions } } as ExecutionResult),
          },
        ),
      }),
    }),
  });
  const of = createUrqlClient({ url: 'unused', preferGetMethod: false, exchanges: [exchange] });
  pipe(
    of.subscription(TICKS, {}),
    subscribe((result) => onResult(result as Result)),
  );
};

/** The results of ticks while the only pod is replaced three times. */
async function replaced(t: TestContext, follow: Follow): Promise<Result[]> {
  const stage = await createStage(t);
  let pod = await stage.gateway();
  const results: Result[] = [];
  follow(t, helperClient(t, { url: pod.url }), (result) => results.push(result));
  const isFollowed = (times: number) => waitFor('the client', () => stage.subscriptions === times);
  await isFollowed(1);
  await stage.publish(5);
  await waitFor('the first events', () => results.length === 5);
  for (let round = 1; round <= 3; round++) {
    await pod.close();
    await stage.publish(20);
    pod = await stage.gateway({ PORT: `${pod.port}` });
    await isFollowed(round + 1);
    await stage.publish(5);
    await waitFor('all events', () => results.length >= stage.published);
  }
  return results;
}

for (const [name, follow] of Object.entries({ 'Apollo Client': apollo, urql })) {
  describe(`${name} over the client of crier`, () => {
    it('has each event once, in order, though its pod is replaced, and sees that none is missing', async (t) => {
      const results = await replaced(t, follow);
      assert.deepEqual(
        results.map(({ data, error }) => error ?? data?.tick.n),
        Array.from({ length: 80 }, (_, i) => i),
      );
      assert.deepEqual(
        results.flatMap(({ extensions }) => extensions?.resumed ?? []),
        [true, true, true],
      );
    });
  });
}
