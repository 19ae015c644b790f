import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { ApolloClient, HttpLink, InMemoryCache, gql } from '@apollo/client/core';
import { createClient as createUrqlClient, fetchExchange } from '@urql/core';
import { createClient as createSseClient } from 'graphql-sse';
import { onEnd, pipe, subscribe as subscribeTo } from 'wonka';
import { waitFor } from '../support/wait-for.ts';
import { createProbe } from '../websocket/probe.ts';
import type { Probe } from '../websocket/probe.ts';
import { startStreams } from './start-streams.ts';

const LIVE = 'subscription ($token: String!) { live(token: $token) { value } }';

/** What a client has been told. `stop` ends its subscription. */
interface Told {
  readonly values: unknown[];
  readonly errors: unknown[];
  isComplete: boolean;
  stop: () => void;
}

type Subscribe = (t: TestContext, url: string, variables: { readonly token: string }) => Told;

function told(): Told {
  return { values: [], errors: [], isComplete: false, stop: () => undefined };
}

function graphqlSse(singleConnection: boolean): Subscribe {
  return (t, url, variables) => {
    const client = createSseClient({ url, singleConnection, retryAttempts: 0 });
    t.after(() => client.dispose());
    const of = told();
    of.stop = client.subscribe(
      { query: LIVE, variables },
      {
        next: (result) => void of.values.push(result.data),
        error: (error) => void of.errors.push(error),
        complete: () => (of.isComplete = true),
      },
    );
    return of;
  };
}

const apollo: Subscribe = (t, url, variables) => {
  const client = new ApolloClient({ cache: new InMemoryCache(), link: new HttpLink({ uri: url }) });
  t.after(() => client.stop());
  const of = told();
  const subscription = client.subscribe({ query: gql(LIVE), variables }).subscribe({
    next: ({ data, error }) => void (error ? of.errors.push(error) : of.values.push(data)),
    error: (error) => void of.errors.push(error),
    complete: () => (of.isComplete = true),
  });
  of.stop = () => subscription.unsubscribe();
  return of;
};

const urql: Subscribe = (_t, url, variables) => {
  const client = createUrqlClient({
    url,
    preferGetMethod: false,
    fetchSubscriptions: true,
    exchanges: [fetchExchange],
  });
  const of = told();
  const subscription = pipe(
    client.subscription(LIVE, variables),
    onEnd(() => (of.isComplete = true)),
    subscribeTo(({ data, error }) => void (error ? of.errors.push(error) : of.values.push(data))),
  );
  of.stop = () => subscription.unsubscribe();
  return of;
};

/** Without the fields that a client adds (`__typename`). */
function valuesOf({ values }: Told): unknown[] {
  return values.map((data) => (data as { live: { value: number } } | null)?.live.value);
}

async function exchange(probe: Probe, of: Told): Promise<void> {
  for (let value = 1; value <= 5; value++) {
    probe.push(value);
    await waitFor(`value ${value}`, () => of.errors.length > 0 || of.values.length === value);
  }
  assert.deepEqual(of.errors, []);
  assert.deepEqual(valuesOf(of), [1, 2, 3, 4, 5]);
}

for (const [name, subscribe] of [
  ['graphql-sse', graphqlSse(false)],
  ['graphql-sse with a single connection', graphqlSse(true)],
  ["Apollo Client's HttpLink over multipart", apollo],
  ["urql's fetchExchange over server-sent events", urql],
] as const) {
  describe(name, () => {
    it('receives five events, stops, and subscribes again', async (t) => {
      const { url } = await startStreams(t);
      for (let round = 0; round < 2; round++) {
        const probe = createProbe(t);
        const of = subscribe(t, url, { token: probe.token });
        await waitFor('the source', () => probe.starts === 1);
        await exchange(probe, of);
        of.stop();
        await waitFor('the release', () => probe.returns === 1);
      }
    });

    it('is told of the end of the source', async (t) => {
      const { url } = await startStreams(t);
      const probe = createProbe(t);
      const of = subscribe(t, url, { token: probe.token });
      await waitFor('the source', () => probe.starts === 1);
      probe.push(1);
      probe.end();
      await waitFor('the end', () => of.isComplete);
      // urql tells the last result again when a stream has ended.
      assert.deepEqual([[...new Set(valuesOf(of))], of.errors], [[1], []]);
    });
  });
}

describe('graphql-sse', () => {
  it('subscribes again when a drain ends its stream', async (t) => {
    const first = await startStreams(t);
    const second = await startStreams(t);
    const probe = createProbe(t);
    let url = first.url;
    const client = createSseClient({ url: () => url, retryAttempts: 10, retry: () => Promise.resolve() });
    t.after(() => client.dispose());
    const values: unknown[] = [];
    client.subscribe<{ live: { value: number } }>(
      { query: LIVE, variables: { token: probe.token } },
      {
        next: ({ data }) => void values.push(data?.live.value),
        error: (error) => assert.fail(String(error)),
        complete: () => undefined,
      },
    );
    await waitFor('the source', () => probe.starts === 1);
    probe.push(1);
    await waitFor('a value', () => values.length === 1);
    ({ url } = second);
    await first.server.close();
    await waitFor('the second source', () => probe.starts === 2);
    probe.push(2);
    await waitFor('the second value', () => values.length === 2);
  });
});
