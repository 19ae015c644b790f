import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { Redis } from 'ioredis';
import { signWith } from '../identity/identity-provider.ts';
import { metricOf } from '../../support/metric.ts';
import { openSocket } from '../../support/socket.ts';
import type { Socket } from '../../support/socket.ts';
import { waitFor } from '../../support/wait-for.ts';
import { startGateway } from './redis-gateway.ts';

const GRAPH = {
  'schema.graphql': `
    type Query { hello: String }
    type Subscription { thing(id: ID!): Thing @kafka(topic: "things", match: [{ arg: "id", path: "id" }]) }
    type Thing { id: ID }
  `,
};
const THING = 'subscription ($id: ID!) { thing(id: $id) { id } }';

const SECRET = 'a secret of this test, of 32 bytes';
const SOCKETS = 4;
const OPERATIONS = 20;

/** One user opens sockets, and subscribes on each with variables that are new each time. */
async function attack(t: TestContext, settings: Readonly<Record<string, string>>) {
  const { server, redis, prefix } = await startGateway(t, {
    graph: GRAPH,
    settings: { ...settings, JWT_SECRET: SECRET },
  });
  const token = await signWith(Buffer.from(SECRET), { sub: 'mallory' }, { alg: 'HS256' });
  const admin = new Redis(redis.url, { retryStrategy: () => null }).on('error', () => undefined);
  t.after(() => admin.disconnect());
  const channels = async () => ((await admin.pubsub('CHANNELS', `${prefix}things*`)) as string[]).length;
  const sockets: Socket[] = [];
  const refusedSockets: number[] = [];
  for (let i = 0; i < SOCKETS; i++) {
    const socket = await openSocket(t, `ws://127.0.0.1:${server.port}/graphql`);
    const isAccepted = await socket.init({ token }).then(
      () => true,
      () => false,
    );
    if (isAccepted) sockets.push(socket);
    else refusedSockets.push((await socket.expectClose()).code);
  }
  let refusals = 0;
  for (const [at, socket] of sockets.entries()) {
    for (let n = 0; n < OPERATIONS; n++) socket.subscribe(`${n}`, THING, { id: `${at}-${n}` });
    refusals += (await socket.roundTrip()).filter(({ type }) => type === 'error').length;
  }
  const ofPod = () => metricOf(`http://127.0.0.1:${server.adminPort}`, 'crier_channels');
  const expected = sockets.length * OPERATIONS - refusals;
  await waitFor('the channels', async () => (await channels()) === expected && (await ofPod()) === expected);
  const endAll = async () => {
    for (const socket of sockets) for (let n = 0; n < OPERATIONS; n++) socket.complete(`${n}`);
    await waitFor('no channel', async () => (await channels()) === 0 && (await ofPod()) === 0);
  };
  return { refusedSockets, refusals, channels: expected, endAll };
}

describe('variables that are new each time, by one user, so that each names a channel', () => {
  it('open no more channels than operations of a connection times connections of a user, and none for good (S-64)', async (t) => {
    const limits = { MAX_OPERATIONS_PER_CONNECTION: '5', MAX_CONNECTIONS_PER_USER: '2' };
    const { refusedSockets, refusals, channels, endAll } = await attack(t, limits);
    assert.deepEqual(refusedSockets, [1013, 1013]);
    assert.deepEqual([channels, refusals], [10, 30]);
    await endAll();
  });

  it('open a channel each without the limits (twin of S-64)', async (t) => {
    const { channels, endAll } = await attack(t, { MAX_CONNECTIONS_PER_USER: '0' });
    assert.equal(channels, SOCKETS * OPERATIONS);
    await endAll();
  });
});
