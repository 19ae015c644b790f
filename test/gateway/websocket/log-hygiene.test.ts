import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { startServer } from '../../../src/server.ts';
import { graphFolder } from '../../graph/support/graph-folder.ts';
import { redisServer } from '../../support/services.ts';
import { openSocket, subscribeMessage } from '../../support/socket.ts';
import { testConfig } from '../../support/switches.ts';
import { waitFor } from '../../support/wait-for.ts';

const SECRET = 'hunter2';

const GRAPH = {
  'schema.graphql': `
    type Query { hello(name: String): String broken(name: String): String }
    type Subscription {
      thing(id: ID!): Thing @kafka(topic: "things", match: [{ arg: "id", path: "id" }])
    }
    type Thing { id: ID text: String number: Int broken: String }
  `,
  'resolvers.ts': `
    const fail = () => { throw new Error('our own words'); };
    export const Query = { hello: () => 'world', broken: fail };
    export const Thing = { broken: fail };
  `,
  'context.ts': `
    export const authenticate = ({ params }: { params: Record<string, unknown> }) => {
      if (params['refuse'] === 'by a throw') throw new Error('our own words');
      return params['refuse'] ? false : { token: params['authorization'] };
    };
  `,
};

const EVENTS = 'subscription ($id: ID!) { thing(id: $id) { text number broken } }';

describe('the log', () => {
  it('contains no data of clients or records at any level', async (t) => {
    const lines: string[] = [];
    const log = pino({ level: 'trace' }, { write: (line) => void lines.push(line) });
    const redis = await redisServer(t);
    const config = testConfig({
      ROLE: 'gateway',
      HOST: '127.0.0.1',
      PORT: '0',
      ADMIN_PORT: '0',
      REDIS_URL: redis.url,
      GRAPH: await graphFolder(t, GRAPH),
    });
    const server = await startServer(config, log, { onFatal: (error) => assert.fail(error) });
    t.after(() => server.close());
    const address = `127.0.0.1:${server.port}/graphql?token=${SECRET}`;
    const headers = { authorization: `Bearer ${SECRET}`, cookie: `session=${SECRET}` };
    const params = { authorization: `Bearer ${SECRET}`, password: SECRET };
    const connect = () => openSocket(t, `ws://${address}`, { headers });

    for (const refuse of ['by false', 'by a throw']) {
      const socket = await connect();
      socket.send({ type: 'connection_init', payload: { ...params, refuse } });
      assert.equal((await socket.expectClose()).code, 4403);
    }
    for (const bad of [`{"${SECRET}"`, { type: SECRET }]) {
      const socket = await connect();
      await socket.init(params);
      socket.send(bad);
      assert.equal((await socket.expectClose()).code, 4400);
    }

    const socket = await connect();
    await socket.init(params);
    socket.send({ type: 'complete', id: SECRET.repeat(20) });
    socket.send(subscribeMessage(SECRET.repeat(20), '{ nothing }'));
    socket.send(subscribeMessage('a', 'query ($n: String) { broken(name: $n) }', { n: SECRET }));
    socket.send(subscribeMessage('b', `{ hello(name: "${SECRET}") `));
    socket.send(subscribeMessage('c', `{ nothing(name: "${SECRET}") }`));
    socket.send(subscribeMessage('d', 'query ($n: String) { hello(name: $n) }', { n: { password: SECRET } }));
    socket.send(subscribeMessage(SECRET, EVENTS, { id: SECRET }));
    // At the end of the test Redis stops before this client, so errors are ignored.
    const publisher = new Redis(redis.url, { retryStrategy: () => null }).on('error', () => undefined);
    t.after(() => publisher.disconnect());
    const channel = `crier:things{id=${JSON.stringify(SECRET)}}`;
    const drifted = JSON.stringify({ id: SECRET, text: { inner: SECRET }, number: SECRET });
    await waitFor('the subscription', async () => (await publisher.publish(channel, drifted)) === 1);
    await waitFor('the event', () => socket.unread.some(({ id, type }) => id === SECRET && type === 'next'));
    await publisher.publish(channel, `{ ${SECRET}`);
    await waitFor('the log line about the record', () => lines.some((line) => line.includes('not JSON')));
    for (const body of ['{"query":"{ broken }"}', `{"query":"{ ${SECRET} }"}`, `{"${SECRET}`]) {
      await fetch(`http://${address}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
      });
    }

    assert.ok(lines.some((line) => line.includes('our own words')));
    assert.deepEqual(
      lines.filter((line) => line.includes(SECRET)),
      [],
    );
  });
});
