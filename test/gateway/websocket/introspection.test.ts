import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { openSocket } from '../../support/socket.ts';
import { crier } from './crier.ts';

const PRODUCTION = { NODE_ENV: 'production', EMBEDDED: 'true' };

const ATTEMPTS = {
  __schema: '{ __schema { types { name } } }',
  __type: '{ __type(name: "Query") { fields { name } } }',
  'an alias': '{ harmless: __schema { types { name } } }',
  'a fragment': 'query { ...F } fragment F on Query { __schema { types { name } } }',
  'an inline fragment': '{ ... on Query { __type(name: "Query") { name } } }',
  'an operation beside another': 'query A { __typename } query B { __schema { types { name } } }',
};

async function answerTo(t: TestContext, query: string, settings: Readonly<Record<string, string>>) {
  const target = await crier.start(settings);
  t.after(() => target.close());
  const socket = await openSocket(t, target.url);
  await socket.init();
  const operationName = query.includes('query B') ? 'B' : undefined;
  socket.send({ type: 'subscribe', id: 'a', payload: { query, operationName } });
  return socket.next();
}

describe('introspection over a WebSocket (S-46)', () => {
  for (const [what, query] of Object.entries(ATTEMPTS)) {
    it(`is refused in production by ${what}`, async (t) => {
      const { type, payload } = await answerTo(t, query, PRODUCTION);
      assert.equal(type, 'error');
      assert.match(JSON.stringify(payload), /introspection has been disabled/);
    });

    it(`is answered by ${what} if it is asked for (twin)`, async (t) => {
      const { type, payload } = await answerTo(t, query, { ...PRODUCTION, INTROSPECTION: 'true' });
      assert.equal(type, 'next');
      assert.deepEqual(Object.keys(payload as object), ['data']);
    });
  }
});
