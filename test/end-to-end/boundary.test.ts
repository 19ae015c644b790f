import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { openSocket } from '../support/socket.ts';
import { spawnPod } from './pod-process.ts';
import { startPod } from './pod-server.ts';

/** Resolvers that fail in ways that neither graphql-js nor graphql-jit handles. */
const GRAPH = {
  'schema.graphql': `
    type Subscription { thing: Thing @kafka(topic: "things", history: {}, replay: LAST) }
    scalar Text
    type Inner { text: String }
    type Thing {
      count: Int
      getter: Inner
      toJson: Text
      bigint: Text
      proxy: Inner
      thenable: String
      iterator: [String]
      throwsObject: String
      throwsProxy: String
      throwsUnreadable: String
      throwsNumericMessage: String
      rejectsNumericMessage: String
      forgetsRejection: String
      forgetsLateRejection: String
    }
  `,
  'resolvers.ts': `
    import { GraphQLError, GraphQLScalarType } from 'graphql';
    const fail = (): never => { throw new Error('of the graph'); };
    const rethrow = (): never => { throw hostile; };
    const hostile: object = new Proxy(new Error(), { get: rethrow, has: rethrow, getPrototypeOf: rethrow, ownKeys: rethrow });
    const getters = { message: { get: fail }, stack: { get: fail }, cause: { get: fail } };
    const numeric = () => Object.assign(new GraphQLError('', { path: [] }), { message: 42 });
    const later = () => new Promise((resolve) => setTimeout(resolve, 1));
    export const Text = new GraphQLScalarType({ name: 'Text', serialize: (value) => value });
    export const Thing = {
      getter: () => ({ get text() { return fail(); } }),
      toJson: () => ({ toJSON: fail }),
      bigint: () => 1n,
      proxy: () => new Proxy({}, { get: fail, has: fail, getPrototypeOf: fail, ownKeys: fail }),
      thenable: () => ({ then: fail }),
      iterator: () => ({ [Symbol.iterator]: () => ({ next: fail }) }),
      throwsObject: () => { throw Object.create(null); },
      throwsProxy: () => { throw hostile; },
      throwsUnreadable: () => { throw Object.defineProperties(new Error(), getters); },
      throwsNumericMessage: () => { throw numeric(); },
      rejectsNumericMessage: async () => { await later(); throw numeric(); },
      forgetsRejection: () => { void Promise.reject(new Error('forgotten')); return 'served'; },
      forgetsLateRejection: () => { void later().then(rethrow); return 'served'; },
    };
  `,
  'samples.ts': `
    export function* records() { for (let count = 1; ; count++) yield { topic: 'things', value: { count } }; }
  `,
};

/** Type of the message that a subscriber of each field receives for an event. */
const ANSWERS = {
  getter: 'next',
  toJson: 'next',
  bigint: 'next',
  proxy: 'next',
  thenable: 'next',
  iterator: 'next',
  throwsObject: 'next',
  throwsProxy: 'error',
  throwsUnreadable: 'next',
  throwsNumericMessage: 'error',
  rejectsNumericMessage: 'error',
  forgetsRejection: 'next',
  forgetsLateRejection: 'next',
} as const;

describe('a pod whose resolvers fail in unusual ways', () => {
  // An operation is compiled after its third use.
  for (const [mode, DISABLE, uses] of [
    ['interpreted', 'jit', 2],
    ['compiled', '', 5],
  ] as const) {
    it(`answers the operation, serves the other operations and keeps running: ${mode}`, async (t) => {
      const folder = await graphFolder(t, GRAPH);
      const pod = await spawnPod(t, { GRAPH: folder, DISABLE, SAMPLE_INTERVAL_MS: '20' }).started();
      const healthy = await openSocket(t, pod.url);
      const broken = await openSocket(t, pod.url);
      for (const socket of [healthy, broken]) await socket.init();
      healthy.subscribe('a', 'subscription { thing { count } }');
      for (const [field, answer] of Object.entries(ANSWERS)) {
        const selection = ['getter', 'proxy'].includes(field) ? `${field} { text }` : field;
        // Each subscription after the first starts with the last event of the history, which fails again.
        for (let use = 1; use <= uses; use++) {
          const id = `${field} ${use}`;
          broken.subscribe(id, `subscription { thing { count ${selection} } }`);
          let message = await broken.next();
          while (message.id !== id) message = await broken.next();
          assert.equal(message.type, answer, `${JSON.stringify(message)}\n${pod.log.slice(-4000)}`);
          if (answer === 'error') {
            assert.deepEqual(message.payload, [
              { message: 'Internal server error', extensions: { code: 'INTERNAL_SERVER_ERROR' } },
            ]);
          } else broken.complete(id);
        }
        await healthy.take(healthy.unread.length + 2);
      }
      const counts = (await healthy.take(10)).map(
        ({ payload }) => (payload as { data: { thing: { count: number } } }).data.thing.count,
      );
      assert.deepEqual(
        counts,
        counts.map((_, i) => counts[0]! + i),
      );
      assert.equal(await pod.metric('crier_failures_total{ended="operation"}'), 3 * uses);
      assert.equal(await pod.metric('crier_operations'), 1);
      // At least one for each of two fields, because a field's second subscription may share the first one's execution.
      assert.ok((await pod.metric('crier_unhandled_rejections_total')) >= 2);
      for (const text of [/^an unexpected failure ended this operation/, /^a promise was rejected/]) {
        const lines = pod.lines.filter(({ msg }) => text.test(msg));
        assert.ok(lines.length >= 1 && lines.length <= 3, `${lines.length} lines like ${String(text)}`);
      }
      assert.equal(await pod.stop(), 0);
    });
  }
});

describe('a pod whose resolver never settles for one connection', () => {
  it('ends that operation with EXECUTION_TIMEOUT, logs it, and serves the operations that waited for it', async (t) => {
    const folder = await graphFolder(t, {
      'schema.graphql': `
        type Subscription { thing: Thing @kafka(topic: "things") }
        type Thing { count: Int slow: Int }
      `,
      'resolvers.ts': `
        let calls = 0;
        export const Thing = { slow: ({ count }) => (++calls === 1 ? new Promise(() => {}) : count) };
      `,
      'samples.ts': GRAPH['samples.ts'],
    });
    const settings = { EXECUTION_TIMEOUT_MS: '200', BACKEND_TIMEOUT_MS: '200', SHARING_AUDIT: '0' };
    const pod = await startPod(t, { GRAPH: folder, SAMPLE_INTERVAL_MS: '20', ...settings });
    const first = await openSocket(t, pod.url);
    const other = await openSocket(t, pod.url);
    for (const socket of [first, other]) {
      await socket.init();
      socket.subscribe('a', 'subscription { thing { count slow } }');
    }
    const results = await Promise.all([first.next(), other.next()]);
    const error = {
      message: 'An event was not executed in time; subscribe again',
      extensions: { code: 'EXECUTION_TIMEOUT' },
    };
    assert.deepEqual(results.map(({ type }) => type).toSorted(), ['error', 'next']);
    assert.deepEqual(results.find(({ type }) => type === 'error')?.payload, [error]);
    assert.equal(await pod.metric('crier_failures_total{ended="operation"}'), 1);
    assert.ok(pod.lines.some(({ msg }) => /^an unexpected failure ended this operation/.test(msg)));
    await pod.stop();
  });
});
