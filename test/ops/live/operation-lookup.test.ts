import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { SignJWT } from 'jose';
import { startPod } from '../../end-to-end/pod-server.ts';
import { graphFolder } from '../../graph/support/graph-folder.ts';
import { watch } from '../../support/stock-client.ts';

const GRAPH = {
  'schema.graphql': `
    type Query { greeting(name: String, age: Int): String }
    type Subscription {
      orders(shop: ID, token: String, of: [Int!]): Order
        @kafka(
          topic: "orders"
          match: [{ arg: "shop", path: "shop_id" }]
          where: [{ claim: "org", path: "tenant" }]
        )
      own: Int
    }
    type Order { id: ID, shop_id: ID, tenant: String }
  `,
  'resolvers.js': `
    export const Query = { greeting: () => 'hello' };
    export const Subscription = { own: { async *subscribe() { yield { own: 1 }; await new Promise(() => {}); } } };
  `,
};
const SECRET = 's'.repeat(32);
const ORDERS = `subscription Orders($shop: ID = "default-shop") {
  orders(shop: $shop, token: "hunter2", of: [4711, 4712]) { id @include(if: true) name: tenant }
}`;
const LOOKUP = `query ($document: String!, $operation: String!) {
  crier_operation(document: $document, operation: $operation) {
    text subscriptions channels { pattern channels subscriptions largest }
  }
}`;

interface Found {
  readonly text: string | null;
  readonly subscriptions: number;
  readonly channels: readonly object[];
}

const digits = (query: string) => createHash('sha256').update(query).digest('hex').slice(0, 12);

async function start(t: TestContext, settings: Readonly<Record<string, string>> = {}) {
  const folder = await graphFolder(t, GRAPH);
  const pod = await startPod(t, { GRAPH: folder, EMBEDDED: 'true', JWT_SECRET: SECRET, ...settings });
  const tokenOf = (org: string) =>
    new SignJWT({ org }).setProtectedHeader({ alg: 'HS256' }).setExpirationTime('1h').sign(Buffer.from(SECRET));
  const lookUp = async (query: string, operation: string) => {
    const variables = JSON.stringify({ document: digits(query), operation });
    const response = await fetch(
      `${pod.admin}/live/graphql?${String(new URLSearchParams({ query: LOOKUP, variables }))}`,
    );
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return { text, found: (JSON.parse(text) as { data: { crier_operation: Found | null } }).data.crier_operation };
  };
  return { pod, tokenOf, lookUp };
}

describe('crier_operation', () => {
  it('shows the document and the subscriptions by channel, and no value of a client: argument, variable, claim or token', async (t) => {
    const { pod, tokenOf, lookUp } = await start(t);
    for (const [org, shop] of [
      ['acme-inc', 'shop-1'],
      ['acme-inc', 'shop-1'],
      ['globex', 'shop-2'],
      ['globex', null],
    ] as const) {
      const token = await tokenOf(org);
      watch(t, pod.url, ORDERS, { shop }, { connectionParams: { token } });
    }
    watch(t, pod.url, 'subscription Own { own }', {}, { connectionParams: { token: await tokenOf('acme-inc') } });
    await pod.until('the subscriptions', async () => (await lookUp(ORDERS, 'Orders')).found?.subscriptions === 4);
    const { text, found } = await lookUp(ORDERS, 'Orders');
    assert.deepEqual(found, {
      text: `subscription Orders($shop: ID = …) {
  orders(shop: $shop, token: …, of: […, …]) {
    id @include(if: true)
    name: tenant
  }
}`,
      subscriptions: 4,
      channels: [
        { pattern: 'orders{shop_id=…,tenant=…}', channels: 2, subscriptions: 3, largest: 2 },
        { pattern: 'orders{shop_id=*,tenant=…}', channels: 1, subscriptions: 1, largest: 1 },
      ],
    });
    assert.doesNotMatch(text, /acme|globex|shop-\d|default-shop|hunter2|471|eyJ/);
    const own = await lookUp('subscription Own { own }', 'Own');
    assert.deepEqual(own.found, { text: 'subscription Own {\n  own\n}', subscriptions: 1, channels: [] });
  });

  it('shows the document of a query while it is cached, a long one up to 10,000 characters, and null for what it does not know', async (t) => {
    const { pod, tokenOf, lookUp } = await start(t, { MAX_QUERY_ALIASES: '1000', MAX_QUERY_LENGTH: '20000' });
    const authorization = `Bearer ${await tokenOf('acme-inc')}`;
    const ask = async (query: string) => {
      const headers = { 'content-type': 'application/json', authorization };
      const response = await fetch(pod.endpoint, { method: 'POST', headers, body: JSON.stringify({ query }) });
      assert.match(await response.text(), /^\{"data":/);
    };
    const greeting = 'query Greeting { greeting(name: "Ida", age: 7) }';
    const long = `query Long { ${Array.from({ length: 200 }, (_, i) => `${'a'.repeat(50)}${i}: greeting`).join(' ')} }`;
    for (const query of [greeting, long]) await ask(query);
    const { found } = await lookUp(greeting, 'Greeting');
    assert.deepEqual(found, {
      text: 'query Greeting {\n  greeting(name: …, age: …)\n}',
      subscriptions: 0,
      channels: [],
    });
    assert.match((await lookUp(long, 'Long')).found!.text!, /^query Long \{[^]{9988}\n# \d+ characters more$/);
    for (const [query, name] of [
      [greeting, 'Other'],
      ['{ greeting }', ''],
    ] as const)
      assert.equal((await lookUp(query, name)).found, null);
  });

  it('finds a subscription whose document has left the cache, and says of a query that its text is gone', async (t) => {
    const { pod, tokenOf, lookUp } = await start(t, { DOCUMENT_CACHE_ENTRIES: '0' });
    const token = await tokenOf('acme-inc');
    watch(t, pod.url, ORDERS, undefined, { connectionParams: { token } });
    await pod.until('the subscription', async () => (await lookUp(ORDERS, 'Orders')).found?.subscriptions === 1);
    assert.match((await lookUp(ORDERS, 'Orders')).found!.text!, /^subscription Orders\(/);
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    await fetch(pod.endpoint, { method: 'POST', headers, body: JSON.stringify({ query: 'query Once { greeting }' }) });
    const { found } = await lookUp('query Once { greeting }', 'Once');
    assert.deepEqual(found, { text: null, subscriptions: 0, channels: [] });
  });

  it('needs the token that the figures need', async (t) => {
    const { pod } = await start(t, { ADMIN_TOKEN: 't'.repeat(32) });
    const query = '{crier_operation(document:"",operation:""){text}}';
    assert.equal((await fetch(`${pod.admin}/live/graphql?${String(new URLSearchParams({ query }))}`)).status, 401);
  });
});
