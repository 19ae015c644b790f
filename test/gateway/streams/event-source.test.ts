import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HISTORY_DEFAULTS } from '../../../src/bus/history.ts';
import { openPage } from '../../support/browser.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createProbe } from '../websocket/probe.ts';
import { startRedisGateway } from '../websocket/redis-gateway.ts';
import { startStreams } from './start-streams.ts';
import { openStream } from './stream-client.ts';

const GRAPH = {
  'schema.graphql': `
    type Subscription {
      thing(id: ID!): Thing @kafka(topic: "things", match: [{ arg: "id", path: "id" }], history: {})
    }
    type Thing { id: ID seq: Int }
  `,
};
const QUERY = 'subscription { thing(id: 1) { seq } }';
const CHANNEL = 'things{id="1"}';

/** An event as the page has received it. */
interface PageEvent {
  readonly data: { readonly thing: { readonly seq: number } };
  readonly extensions: { readonly cursor: string; readonly resumed?: boolean };
  readonly id: string;
}

describe('EventSource in Chromium', () => {
  it('receives events, reconnects when its stream ends, and resumes with Last-Event-ID', async (t) => {
    const { endpoint, adminUrl, worker, hasChannel } = await startRedisGateway(t, { graph: GRAPH });
    const publish = (seq: number) => worker.publish(CHANNEL, { id: 1, seq }, HISTORY_DEFAULTS);
    const page = await openPage(t);
    // Any page of the origin: this one is the text of a 404.
    await page.goto(new URL('/nothing', endpoint).href);
    await page.evaluate(
      (url) => {
        const received: object[] = [];
        const source = new EventSource(url);
        source.addEventListener('next', (event) => {
          const { data, lastEventId } = event as Event & { readonly data: string; readonly lastEventId: string };
          received.push({ ...(JSON.parse(data) as object), id: lastEventId });
        });
        Object.assign(globalThis, { received });
      },
      `${endpoint}?query=${encodeURIComponent(QUERY)}`,
    );
    const received = () =>
      page.evaluate(() => (globalThis as unknown as { received: unknown }).received) as Promise<PageEvent[]>;
    await hasChannel(CHANNEL);
    for (const seq of [1, 2]) await publish(seq);
    await waitFor('two events', async () => (await received()).length === 2);
    const list = `${adminUrl}/debug/connections?by=operations`;
    const { connections } = (await (await fetch(list)).json()) as { connections: { connection: string }[] };
    const body = JSON.stringify({ connection: connections[0]!.connection });
    await fetch(`${adminUrl}/admin/connections/revoke`, { method: 'POST', body });
    await hasChannel(CHANNEL, false);
    for (const seq of [3, 4]) await publish(seq);
    await waitFor('the missed events', async () => (await received()).length === 4, 30_000);
    const events = await received();
    assert.deepEqual(
      events.map(({ data, extensions }) => [data.thing.seq, extensions.resumed]),
      [
        [1, undefined],
        [2, undefined],
        [3, true],
        [4, undefined],
      ],
    );
    for (const { id, extensions } of events) assert.equal(id, extensions.cursor);
  });

  it('comes back after a refusal, when the pod has room again', async (t) => {
    const { url, metric } = await startStreams(t, { MAX_CONNECTIONS: '1' });
    const variables = { token: createProbe(t).token };
    const query = 'subscription ($token: String!) { live(token: $token) { value } }';
    const occupant = await openStream(t, url, { body: { query, variables } });
    const page = await openPage(t);
    await page.goto(new URL('/nothing', url).href);
    await page.evaluate(
      (asked) => Object.assign(globalThis, { source: new EventSource(asked) }),
      `${url}?${new URLSearchParams({ query, variables: JSON.stringify(variables) }).toString()}`,
    );
    const refusals = () => metric('crier_refusals_total{reason="connections"}');
    await waitFor('a second attempt', async () => (await refusals()) >= 2, 30_000);
    occupant.leave();
    const readyState = () =>
      page.evaluate(() => (globalThis as unknown as { source: EventSource }).source.readyState) as Promise<number>;
    await waitFor('its stream', async () => (await metric('crier_streams{transport="sse"}')) === 1, 30_000);
    assert.equal(await readyState(), 1);
  });
});
