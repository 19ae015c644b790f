import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { graphFolder } from '../../graph/support/graph-folder.ts';
import { openSocket } from '../../support/socket.ts';
import type { ProtocolMessage, Socket } from '../../support/socket.ts';
import { crier } from './crier.ts';

/** Each function of the graph reports the store it finds, then enters the user of its connection. */
const GRAPH = {
  'schema.graphql': `
    type Query { visit: String }
    type Mutation { visit: String }
    type Subscription {
      thing: Thing @kafka(topic: "things", history: {}, replay: LAST)
      ticks: String
    }
    type Thing { count: Int visit: String lateVisit: String json: Json }
    scalar Json
  `,
  'store.ts': `
    import { AsyncLocalStorage } from 'node:async_hooks';
    const store = new AsyncLocalStorage<string>();
    export function visit(user: unknown) {
      const found = store.getStore() ?? 'nobody';
      store.enterWith(String(user));
      return found;
    }
  `,
  'context.ts': `
    import { visit } from './store.ts';
    export function authenticate({ params }: { params: Record<string, unknown> }) {
      return { user: params['user'], found: visit(params['user']) };
    }
  `,
  'resolvers.ts': `
    import { GraphQLScalarType } from 'graphql';
    import { visit } from './store.ts';
    const ofCaller = (_: unknown, __: unknown, { connection }: any) => [connection.claims.found, visit(connection.claims.user)].join();
    export const Json = new GraphQLScalarType({ name: 'Json', serialize: (value) => value });
    export const Query = { visit: ofCaller };
    export const Mutation = { visit: ofCaller };
    export const Thing = {
      visit: ofCaller,
      lateVisit: async (...args: [unknown, unknown, any]) => (await null, ofCaller(...args)),
      json: (_: unknown, __: unknown, { connection }: any) => ({ toJSON: () => visit(connection.claims.user) }),
    };
    export const Subscription = {
      thing: { authorize: (_: unknown, { connection }: any) => visit(connection.claims.user) === 'nobody' },
      ticks: {
        async *subscribe(_: unknown, __: unknown, { connection }: any) {
          for (;;) {
            yield { ticks: connection.claims.user + ':' + visit(connection.claims.user) };
            await new Promise((resolve) => setTimeout(resolve, 1));
          }
        },
      },
    };
  `,
  'samples.ts': `
    export function* records() { for (let count = 1; ; count++) yield { topic: 'things', value: { count } }; }
  `,
};

const USERS = ['alice', 'bob', 'carol'];

async function connectAll(t: TestContext, jitAfterUses: string): Promise<Socket[]> {
  const target = await crier.start({
    GRAPH: await graphFolder(t, GRAPH),
    JIT_AFTER_USES: jitAfterUses,
    SAMPLE_INTERVAL_MS: '5',
  });
  t.after(() => target.close());
  return Promise.all(
    USERS.map(async (user) => {
      const socket = await openSocket(t, target.url);
      await socket.init({ user });
      return socket;
    }),
  );
}

function dataOf({ type, payload }: ProtocolMessage): unknown {
  assert.equal(type, 'next', JSON.stringify(payload));
  return (payload as { data: unknown }).data;
}

describe('a store that graph code enters into an AsyncLocalStorage is invisible to other graph code', () => {
  for (const [mode, jitAfterUses] of [
    ['interpreted', '0'],
    ['compiled', '1'],
  ] as const) {
    for (const field of ['visit', 'lateVisit', 'json']) {
      it(`in executions of events: ${field}, ${mode}`, async (t) => {
        const sockets = await connectAll(t, jitAfterUses);
        for (const socket of sockets) socket.subscribe('a', `subscription { thing { ${field} } }`);
        for (const socket of sockets) {
          for (let i = 0; i < 10; i++) {
            const found = field === 'json' ? 'nobody' : 'nobody,nobody';
            assert.deepEqual(dataOf(await socket.next()), { thing: { [field]: found } });
          }
        }
      });
    }
  }

  it('in queries and mutations', async (t) => {
    for (const socket of await connectAll(t, '1')) {
      for (const operation of ['query', 'mutation', 'query', 'mutation']) {
        socket.subscribe('a', `${operation} { visit }`);
        const [result] = await socket.take(2);
        assert.deepEqual(dataOf(result!), { visit: 'nobody,nobody' });
      }
    }
  });

  it('in sources of the graph: each sees its own store', async (t) => {
    const sockets = await connectAll(t, '1');
    for (const socket of sockets) socket.subscribe('a', 'subscription { ticks }');
    for (const [index, socket] of sockets.entries()) {
      const user = USERS[index]!;
      for (const message of await socket.take(10)) {
        const { ticks } = dataOf(message) as { ticks: string };
        assert.ok([`${user}:nobody`, `${user}:${user}`].includes(ticks), ticks);
      }
    }
  });
});
