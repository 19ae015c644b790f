import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClient as createSseClient } from 'graphql-sse';
import type { Subscription } from '../../clients/client.ts';
import { apolloOverMultipart, graphqlSse, urqlOverEvents } from '../../clients/javascript-clients.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createProbe } from '../websocket/probe.ts';
import type { Probe } from '../websocket/probe.ts';
import { startStreams } from './start-streams.ts';

const LIVE = 'subscription ($token: String!) { live(token: $token) { value } }';

/** Without the fields that a client adds (`__typename`). */
function valuesOf({ events }: Subscription): unknown[] {
  return events.map((data) => (data as { live: { value: number } } | null)?.live.value);
}

async function exchange(probe: Probe, of: Subscription): Promise<void> {
  for (let value = 1; value <= 5; value++) {
    probe.push(value);
    await waitFor(`value ${value}`, () => of.errors.length > 0 || of.events.length === value);
  }
  assert.deepEqual(of.errors, []);
  assert.deepEqual(valuesOf(of), [1, 2, 3, 4, 5]);
}

for (const [name, start] of [
  ['graphql-sse', graphqlSse(false)],
  ['graphql-sse with a single connection', graphqlSse(true)],
  ["Apollo Client's HttpLink over multipart", apolloOverMultipart],
  ["urql's fetchExchange over server-sent events", urqlOverEvents],
] as const) {
  describe(name, () => {
    it('receives five events, stops, and subscribes again', async (t) => {
      const client = start((await startStreams(t)).url);
      t.after(() => client.close());
      for (let round = 0; round < 2; round++) {
        const probe = createProbe(t);
        const of = client.subscribe(LIVE, { token: probe.token });
        await waitFor('the source', () => probe.starts === 1);
        await exchange(probe, of);
        of.stop();
        await waitFor('the release', () => probe.returns === 1);
      }
    });

    it('is told of the end of the source', async (t) => {
      const client = start((await startStreams(t)).url);
      t.after(() => client.close());
      const probe = createProbe(t);
      const of = client.subscribe(LIVE, { token: probe.token });
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
