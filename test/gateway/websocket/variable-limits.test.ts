import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { graphFolder } from '../../graph/support/graph-folder.ts';
import { openSocket } from '../../support/socket.ts';
import { crier } from './crier.ts';

const GRAPH = {
  'schema.graphql': `
    scalar Any
    type Query { show(any: Any): String }
    type Subscription { thing(id: ID!): Thing @kafka(topic: "things", match: [{ arg: "id", path: "id" }]) }
    type Thing { id: ID }
  `,
  'resolvers.js': `export const Query = { show: () => 'shown' };`,
};

const SHOW = 'query ($any: Any) { show(any: $any) }';
const THING = 'subscription ($id: ID!) { thing(id: $id) { id } }';

const nested = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`) as unknown;

async function stage(t: TestContext, settings: Readonly<Record<string, string>>) {
  const target = await crier.start({ GRAPH: await graphFolder(t, GRAPH), ...settings });
  t.after(() => target.close());
  const socket = await openSocket(t, target.url);
  await socket.init();
  const post = async (query: string, variables: object) => {
    const response = await fetch(target.url.replace('ws', 'http'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    });
    return (await response.json()) as { data?: unknown; errors?: unknown };
  };
  return { socket, post };
}

describe('the variables of a request', () => {
  for (const [what, any, message] of [
    [
      'longer than 16 KB',
      'x'.repeat(16_384),
      'The variables are longer than 16384 bytes (a quarter of MAX_MESSAGE_BYTES)',
    ],
    ['17 levels deep', nested(17), 'The variables are nested more than 16 levels deep'],
    [
      '1,001 values',
      Array(1000).fill(0),
      'The variables have more than 1000 values (in proportion to MAX_MESSAGE_BYTES)',
    ],
  ] as const) {
    it(`are refused if they are ${what}, and the connection lives`, async (t) => {
      const { socket, post } = await stage(t, {});
      const errors = [{ message, extensions: { code: 'BAD_USER_INPUT' } }];
      socket.subscribe('a', SHOW, { any });
      assert.deepEqual((await socket.take(2))[0], { id: 'a', type: 'next', payload: { errors } });
      assert.deepEqual(await post(SHOW, { any }), { errors });
      socket.subscribe('a', SHOW, { any: 1 });
      assert.deepEqual((await socket.next()).payload, { data: { show: 'shown' } });
    });

    it(`are accepted if they are ${what} where the limits permit it (twin)`, async (t) => {
      const settings = { MAX_VARIABLES_BYTES: '65536', MAX_VARIABLES_DEPTH: '1000', MAX_VARIABLES_VALUES: '30001' };
      const { socket } = await stage(t, settings);
      socket.subscribe('a', SHOW, { any });
      assert.deepEqual((await socket.next()).payload, { data: { show: 'shown' } });
    });
  }

  it('are refused where the name of the channel would be too long', async (t) => {
    const { socket } = await stage(t, {});
    socket.subscribe('a', THING, { id: 'x'.repeat(4096) });
    const { type, payload } = await socket.next();
    assert.equal(type, 'error');
    const [{ message, extensions }] = payload as [{ message: string; extensions: object }];
    assert.match(
      message,
      /^The arguments that choose the events are too long: with its topic, a channel's name may have 4096 bytes \(a sixteenth of MAX_MESSAGE_BYTES\)$/,
    );
    assert.deepEqual(extensions, { code: 'BAD_USER_INPUT' });
    socket.subscribe('a', THING, { id: 'x'.repeat(4000) });
    assert.deepEqual(await socket.roundTrip(), []);
  });
});
