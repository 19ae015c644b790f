import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { IS_17 } from '../../../src/graph/graphql-version.ts';
import { graphFolder } from '../../graph/support/graph-folder.ts';
import { openSocket } from '../../support/socket.ts';
import { waitFor } from '../../support/wait-for.ts';
import { crier } from '../websocket/crier.ts';

const GRAPH = {
  'schema.graphql': `
    type Query { hello: String }
    type Subscription {
      "So many texts of 1 KiB, all at hand."
      history(count: Int!, counter: String!): String
      "Never ends, and its iterator has no return()."
      clock(counter: String!): Int
      "The same, once the gate is open."
      gated_clock(counter: String!): Int
      "One event: what its info says."
      info(a: Int): Info
      fails(how: String!): Int
      forbidden: Int
      "The source is there when the test says so."
      late(counter: String!): Int
    }
    type Info { text: String more: String }
  `,
  'resolvers.ts': `
    import { GraphQLError } from 'graphql';
    import type { GraphQLResolveInfo } from 'graphql';
    const counters = globalThis as Record<string, unknown>;
    const gates = globalThis as unknown as Record<string, Promise<void>>;
    const count = (name: string) => (counters[name] = ((counters[name] as number) ?? 0) + 1);
    export const Subscription = {
      history: {
        async *subscribe(_: unknown, args: { count: number; counter: string }) {
          for (let i = 1; i <= args.count; i++) {
            count(args.counter);
            yield { history: String(i).padEnd(1024, '.') };
          }
        },
      },
      info: {
        async *subscribe(_: unknown, args: object, context: object, info: GraphQLResolveInfo) {
          const { fieldName, fieldNodes, returnType, parentType, path, fragments, operation, variableValues } = info;
          const text = JSON.stringify({
            fieldName,
            fieldNodes: fieldNodes.map(({ name, selectionSet }) => [name.value, selectionSet.selections.length]),
            types: [String(returnType), String(parentType), info.schema.getType('Info').name],
            path,
            fragments: Object.keys(fragments),
            operation: [operation.operation, operation.name.value],
            variableValues,
            rootValue: info.rootValue === undefined ? 'undefined' : 'something',
          });
          yield { info: { text } };
        },
      },
      fails: {
        subscribe: async (_: unknown, { how }: { how: string }) => {
          const own = new GraphQLError('Pay first', { extensions: { code: 'UNPAID' } });
          if (how === 'returned') return own;
          if (how === 'thrown') throw own;
          if (how === 'no source') return [1];
          throw new Error('not for clients');
        },
      },
      forbidden: { authorize: () => false, subscribe: () => [] },
      late: {
        subscribe: async (_: unknown, { counter }: { counter: string }) => {
          count(counter);
          await new Promise((resolve) => (counters[counter + '-open'] = resolve));
          return {
            [Symbol.asyncIterator]: () => ({
              next: () => Promise.resolve({ done: count(counter + '-next') > 5, value: { late: 1 } }),
              return: () => Promise.resolve({ done: true, value: count(counter + '-return') }),
            }),
          };
        },
      },
      clock: {
        subscribe: (_: unknown, args: { counter: string }) => ({
          [Symbol.asyncIterator]: () => ({
            next: () => Promise.resolve({ done: false, value: { clock: count(args.counter) } }),
          }),
        }),
      },
      gated_clock: {
        subscribe: async (_: unknown, args: { counter: string }) => {
          count(args.counter + ' asked');
          await gates[args.counter + ' gate'];
          return {
            [Symbol.asyncIterator]: () => ({
              next: () => Promise.resolve({ done: false, value: { gated_clock: count(args.counter) } }),
            }),
          };
        },
      },
    };
  `,
};

let counters = 0;

async function startSource(t: TestContext) {
  const target = await crier.start({ GRAPH: await graphFolder(t, GRAPH), PING_INTERVAL_MS: '0' });
  t.after(() => target.close());
  const counter = `own-source-${++counters}`;
  const socket = await openSocket(t, target.url);
  await socket.init();
  const pulled = () => ((globalThis as Record<string, unknown>)[counter] as number | undefined) ?? 0;
  return { target, socket, counter, pulled };
}

/** Resolves once `pulled` has stayed the same for a while. */
async function standstill(pulled: () => number): Promise<number> {
  let last = -1;
  let since = 0;
  await waitFor('the source to pause', () => {
    if (pulled() !== last) [last, since] = [pulled(), performance.now()];
    return performance.now() - since > 300;
  });
  return last;
}

describe('a source of the graph', () => {
  it('delivers all its events to a client that reads', async (t) => {
    const { socket, counter } = await startSource(t);
    const query = 'subscription ($counter: String!) { history(count: 5000, counter: $counter) }';
    socket.subscribe('a', query, { counter });
    for (let i = 1; i <= 5000; i++) {
      const { type, payload } = await socket.next();
      assert.equal(type, 'next');
      assert.equal((payload as { data: { history: string } }).data.history, String(i).padEnd(1024, '.'));
    }
    assert.equal((await socket.next()).type, 'complete');
  });

  it('pauses while a client does not read, and continues when it reads again', async (t) => {
    const { target, socket, counter, pulled } = await startSource(t);
    const query = 'subscription ($counter: String!) { history(count: 30000, counter: $counter) }';
    socket.pause();
    socket.subscribe('a', query, { counter });
    assert.ok((await standstill(pulled)) < 30_000);
    const other = await openSocket(t, target.url);
    await other.init();
    socket.resume();
    await socket.take(30_000);
    assert.equal((await socket.next()).type, 'complete');
  });

  it('is not asked for events after complete or the end of its connection, also without a return()', async (t) => {
    const { socket, counter, pulled } = await startSource(t);
    const query = 'subscription ($counter: String!) { clock(counter: $counter) }';
    socket.subscribe('a', query, { counter });
    await socket.take(10);
    socket.complete('a');
    await standstill(pulled);
    socket.subscribe('b', query, { counter });
    await waitFor('the second operation', () => socket.unread.some(({ id }) => id === 'b'));
    socket.terminate();
    await standstill(pulled);
  });

  it('is not asked for events if the client completed while the source was opened, also without a return()', async (t) => {
    const { socket, counter, pulled } = await startSource(t);
    const shared = globalThis as unknown as Record<string, unknown>;
    let open = () => {};
    shared[`${counter} gate`] = new Promise<void>((resolve) => (open = resolve));
    socket.subscribe('a', 'subscription ($counter: String!) { gated_clock(counter: $counter) }', { counter });
    await waitFor('the call of subscribe', () => shared[`${counter} asked`] === 1);
    socket.complete('a');
    await socket.roundTrip();
    open();
    assert.ok((await standstill(pulled)) <= 1, 'at most the event requested at the start');
    assert.deepEqual(socket.unread, []);
  });

  it('has no history: a client that resumes receives resumed: false', async (t) => {
    const { socket, counter } = await startSource(t);
    const query = `subscription { history(count: 2, counter: "${counter}") }`;
    socket.send({ id: '1', type: 'subscribe', payload: { query, extensions: { resume: { cursor: null } } } });
    const [first, second] = await socket.take(2);
    assert.deepEqual((first!.payload as { extensions?: object }).extensions, { resumed: false });
    assert.equal((second!.payload as { extensions?: object }).extensions, undefined);
  });

  it('receives the info that graphql-js would pass', async (t) => {
    const { socket } = await startSource(t);
    const query = `subscription Watch($a: Int = 7) { ...F ... { x: info(a: $a) { more } } }
      fragment F on Subscription { x: info(a: $a) { text } }`;
    socket.subscribe('a', query);
    const { payload } = await socket.next();
    const { text } = (payload as { data: { x: { text: string } } }).data.x;
    const { variableValues, ...info } = JSON.parse(text) as { variableValues: { coerced?: object } };
    assert.deepEqual(IS_17 ? variableValues.coerced : variableValues, { a: 7 });
    assert.deepEqual(info, {
      fieldName: 'info',
      fieldNodes: [
        ['info', 1],
        ['info', 1],
      ],
      types: ['Info', 'Subscription', 'Info'],
      path: { key: 'x', typename: 'Subscription' },
      fragments: ['F'],
      operation: ['subscription', 'Watch'],
      rootValue: 'undefined',
    });
  });

  it('fails with the path of what subscribe throws or returns, and masks everything but a GraphQLError', async (t) => {
    const { socket } = await startSource(t);
    const errorOf = async (query: string) => {
      socket.subscribe('a', query);
      const { type, payload } = await socket.next();
      assert.equal(type, 'error');
      const [{ message, path, extensions }] = payload as [
        { message: string; path: unknown; extensions: { code: string } },
      ];
      return [message, path, extensions.code];
    };
    for (const how of ['returned', 'thrown']) {
      const expected = ['Pay first', ['x'], 'UNPAID'];
      assert.deepEqual(await errorOf(`subscription { x: fails(how: "${how}") }`), expected, how);
    }
    for (const how of ['no source', 'with an Error']) {
      const expected = ['Internal server error', ['fails'], 'INTERNAL_SERVER_ERROR'];
      assert.deepEqual(await errorOf(`subscription { fails(how: "${how}") }`), expected, how);
    }
    const forbidden = ['Not allowed to subscribe to "forbidden".', ['forbidden'], 'FORBIDDEN'];
    assert.deepEqual(await errorOf('subscription { forbidden }'), forbidden);
  });

  it('is returned and never asked for an event if its client left during subscribe', async (t) => {
    const { socket, counter } = await startSource(t);
    const state = globalThis as Record<string, unknown>;
    socket.subscribe('a', 'subscription ($counter: String!) { late(counter: $counter) }', { counter });
    await waitFor('subscribe to be called', () => state[`${counter}-open`] !== undefined);
    socket.complete('a');
    socket.subscribe('b', 'query { hello }');
    assert.equal((await socket.next()).id, 'b');
    (state[`${counter}-open`] as () => void)();
    await waitFor('the source to be returned', () => state[`${counter}-return`] === 1);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(state[`${counter}-next`], undefined);
  });
});
