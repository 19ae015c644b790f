import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { createContext, runInContext } from 'node:vm';
import type { ClientOptions } from 'graphql-ws';
import { createServer, defineGraph } from '../../src/library/crier.ts';
import { freePorts } from '../../stack/port.ts';
import { itLosesNothingByExpiry } from '../clients/expiry.ts';
import { installApollo, installUrql, overSink } from '../clients/javascript-clients.ts';
import { metricOf } from '../support/metric.ts';
import { watch } from '../support/stock-client.ts';
import { waitFor } from '../support/wait-for.ts';

const GRAPH = defineGraph({
  schema: 'type Subscription { said: Said @kafka(topic: "said") } type Said { text: String }',
});

/** Options of the first client of graphql-ws on a page, as they stand there. */
async function optionsOf(page: string): Promise<Partial<ClientOptions>> {
  const text = await readFile(page, 'utf8');
  const [, options] = /\bcreateClient\((\{.*?(?:\n *|\.\.\.options )\}),?\s*\)/s.exec(text)!;
  const context = createContext({ options: {}, crier: '', url: '', getToken: () => 'a', getAccessToken: () => 'a' });
  return runInContext(`(${options!})`, context) as Partial<ClientOptions>;
}

describe('a stock client of graphql-ws as a page creates it', () => {
  for (const page of ['docs/reference/clients.md', 'docs/recipes/migrating.md', 'docs/operate/tokens.md']) {
    it(`subscribes again after the only server was away: ${page}`, async (t) => {
      const [port] = (await freePorts(1)) as [number];
      const start = () => createServer({ graph: GRAPH, host: '127.0.0.1', port, logLevel: 'silent' });
      const first = await start();
      let refused = 0;
      const options = await optionsOf(page);
      const on = { error: () => void refused++ };
      const client = watch(t, first.webSocketUrl!, 'subscription { said { text } }', undefined, {
        ...options,
        connectionParams: undefined,
        url: first.webSocketUrl!,
        on,
      });
      const isSubscribed = (url: string) => async () => (await metricOf(url, 'crier_subscriptions')) === 1;
      await waitFor('the subscription', isSubscribed(first.adminUrl));
      await first.close();
      await waitFor('a refused connection', () => refused > 0);
      const second = await start();
      t.after(() => second.close());
      await waitFor('the subscription', isSubscribed(second.adminUrl));
      await second.publish('said', { value: { text: 'again' } });
      assert.deepEqual(await client.event(), { said: { text: 'again' } });
      assert.deepEqual(client.failures, []);
    });
  }
});

describe('a stock client that sends its cursor', { concurrency: true }, () => {
  itLosesNothingByExpiry('graphql-ws', () => Promise.resolve(overSink));
  itLosesNothingByExpiry('Apollo Client', installApollo);
  itLosesNothingByExpiry('urql', installUrql);
});
