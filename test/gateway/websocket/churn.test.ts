import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Redis } from 'ioredis';
import { openSocket, subscribeMessage } from '../../support/socket.ts';
import type { Scope, Socket } from '../../support/socket.ts';
import { waitFor } from '../../support/wait-for.ts';
import { startGateway } from './redis-gateway.ts';

/** Every step of this graph is slow, so that clients can disconnect in the middle of it. */
const GRAPH = {
  'schema.graphql': `
    type Query { slow: String }
    type Subscription {
      thing(id: ID!): Thing @kafka(topic: "things", match: [{ arg: "id", path: "id" }])
      guarded(id: ID!): Thing @kafka(topic: "things", match: [{ arg: "id", path: "id" }])
      own: Int
    }
    type Thing { id: ID slow: String }
  `,
  'resolvers.ts': `
    const later = (value: unknown) => new Promise((resolve) => setTimeout(() => resolve(value), 10));
    export const Query = { slow: () => later('query') };
    export const Thing = { slow: () => later('thing') };
    export const Subscription = {
      guarded: { authorize: () => later(true) },
      own: { async *subscribe() { for (let own = 1; ; own++) { yield { own }; await later(own); } } },
    };
  `,
  'context.ts': `
    export const authenticate = ({ params }: { params: Record<string, unknown> }) =>
      new Promise((resolve) => setTimeout(() => resolve({ sub: 'x' }), params['slow'] ? 10 : 0));
  `,
};

const INIT = { type: 'connection_init' };
const THING = 'subscription ($id: ID!) { thing(id: $id) { id slow } }';

/** Ways to use a connection and to disconnect in the middle; `n` differs each time. */
const LIVES: readonly ((socket: Socket, n: number) => Promise<void> | void)[] = [
  (socket) => socket.terminate(),
  (socket) => socket.close(),
  (socket) => {
    socket.sendTogether(INIT);
    socket.terminate();
  },
  (socket) => socket.sendTogether({ ...INIT, payload: { slow: true } }, INIT),
  (socket) => {
    socket.sendTogether({ ...INIT, payload: { slow: true } });
    socket.close();
  },
  (socket) => socket.send('no JSON'),
  async (socket, n) => {
    await socket.init();
    socket.subscribe('a', THING, { id: n % 7 });
    socket.terminate();
  },
  async (socket, n) => {
    await socket.init();
    socket.subscribe('a', THING, { id: `only ${n}` });
    await socket.roundTrip();
    socket.complete('a');
    socket.subscribe('a', THING, { id: n % 7 });
    await socket.next();
    socket.close(1000);
  },
  async (socket, n) => {
    await socket.init();
    const messages = [0, 1, 2].map((i) => subscribeMessage('a', THING, { id: `${n} ${i}` }));
    socket.sendTogether(messages[0]!, { type: 'complete', id: 'a' }, messages[1]!, messages[2]!);
    await socket.expectClose();
  },
  async (socket, n) => {
    await socket.init();
    socket.subscribe('a', 'subscription ($id: ID!) { guarded(id: $id) { id } }', { id: n % 7 });
    if (n % 2 === 0) socket.complete('a');
    await socket.roundTrip();
    socket.terminate();
  },
  async (socket) => {
    await socket.init();
    socket.subscribe('a', '{ slow }');
    socket.subscribe('b', '{ slow }');
    socket.complete('b');
    socket.terminate();
  },
  async (socket) => {
    await socket.init();
    socket.subscribe('a', 'subscription { own }');
    await socket.next();
    socket.terminate();
  },
  async (socket) => {
    await socket.init();
    for (const query of ['{', '{ nothing }', 'subscription { thing { id } }']) socket.subscribe('a', query);
    socket.close();
  },
];

async function startStage(t: TestContext) {
  const { server, redis, prefix } = await startGateway(t, {
    graph: GRAPH,
    settings: { PING_INTERVAL_MS: '0' },
  });
  // At the end of the test Redis stops before this client, so errors are ignored.
  const publisher = new Redis(redis.url, { retryStrategy: () => null }).on('error', () => undefined);
  let next = 0;
  const events = setInterval(() => {
    const id = String(next++ % 7);
    publisher.publish(`${prefix}things{id="${id}"}`, JSON.stringify({ id })).catch(() => undefined);
  }, 2);
  t.after(() => {
    clearInterval(events);
    publisher.disconnect();
  });
  const gauge = async (name: string) => {
    const text = await (await fetch(`http://127.0.0.1:${server.adminPort}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
  };
  return { url: `ws://127.0.0.1:${server.port}/graphql`, publisher, prefix, gauge };
}

/** Bytes on the heap after garbage collection. */
async function heapBytes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    collect();
  }
  return process.memoryUsage().heapUsed;
}

/** Opens this number of connections, some at a time, which use the ways above in turn. */
async function churn(url: string, count: number): Promise<void> {
  let n = 0;
  const nobody: Scope = { after: () => undefined };
  const work = async () => {
    while (n < count) {
      const mine = n++;
      const socket = await openSocket(nobody, url);
      await LIVES[mine % LIVES.length]!(socket, mine);
      socket.terminate();
      await socket.expectClose();
    }
  };
  await Promise.all(Array.from({ length: 40 }, work));
}

describe('connection churn', () => {
  it('leaves no channel, operation or heap behind, whatever was in progress', { timeout: 180_000 }, async (t) => {
    const { url, publisher, prefix, gauge } = await startStage(t);
    const settled = async () => {
      for (const name of ['crier_connections', 'crier_operations', 'crier_channels']) {
        await waitFor(`${name} to be 0`, async () => (await gauge(name)) === 0);
      }
      await waitFor('Redis to have no channel', async () => {
        const channels = (await publisher.pubsub('CHANNELS', `${prefix}things*`)) as string[];
        return channels.length === 0;
      });
    };
    await churn(url, 1200);
    await settled();
    const resources = () =>
      process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap' || kind === 'Timeout').length;
    const before = { heap: await heapBytes(), resources: resources() };
    await churn(url, 2000);
    await settled();
    const after = { heap: await heapBytes(), resources: resources() };
    // Compiled code adds about 500 bytes per connection; a leaked connection takes about 6,000.
    const perConnection = (after.heap - before.heap) / 2000;
    assert.ok(perConnection < 1000, `${perConnection.toFixed(0)} bytes of heap remain per connection`);
    assert.ok(after.resources <= before.resources + 3, `${after.resources} handles instead of ${before.resources}`);
  });
});
