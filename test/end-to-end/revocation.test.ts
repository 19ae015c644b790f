import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { JWTPayload } from 'jose';
import { channelName } from '../../src/bus/channel.ts';
import { RedisBus } from '../../src/bus/redis/redis-bus.ts';
import { startRedisServer } from '../../stack/redis-server.ts';
import { logLines } from '../bus/log-lines.ts';
import { graphFolder } from '../graph/support/graph-folder.ts';
import { fromNow, signWith } from '../gateway/identity/identity-provider.ts';
import { publisherOf } from '../support/partition-publisher.ts';
import { randomName, redisServer } from '../support/services.ts';
import { openSocket } from '../support/socket.ts';
import type { Socket } from '../support/socket.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Pod } from './pod.ts';
import { spawnPod } from './pod-process.ts';
import { startPod } from './pod-server.ts';

const SECRET = 's'.repeat(32);
const GRAPH = {
  'schema.graphql': `
    type Query { me: String }
    type Subscription { tick(user: ID!): Int @kafka(topic: "ticks", match: [{ arg: "user", path: "user" }], payload: "at") }
  `,
  'resolvers.js': 'export const Query = { me: (_, __, { connection }) => connection.claims.sub };',
};

interface Reply {
  readonly closed: number;
  readonly until: string | null;
  readonly pods: readonly { readonly pod: string; readonly closed: number }[];
  readonly silent: readonly string[];
  readonly note?: string;
}

const sign = (claims: JWTPayload = {}) => signWith(new TextEncoder().encode(SECRET), claims, { alg: 'HS256' });

/** The settings of gateways on one Redis. */
async function settingsOf(t: TestContext) {
  const redis = await redisServer(t);
  const settings = {
    ROLE: 'gateway',
    GRAPH: await graphFolder(t, GRAPH),
    REDIS_URL: redis.url,
    CHANNEL_PREFIX: `${randomName('revocation')}:`,
    JWT_SECRET: SECRET,
    JWT_AUDIENCE: 'crier',
    LOG_LEVEL: 'warn',
  };
  return { redis, settings };
}

async function stage(t: TestContext) {
  const { redis, settings } = await settingsOf(t);
  const start = (name: string) => startPod(t, { ...settings, POD_NAME: name });
  return { redis, prefix: settings.CHANNEL_PREFIX, start, pods: await Promise.all([start('a'), start('b')]) };
}

async function open(t: TestContext, pod: Pod, token: string): Promise<Socket> {
  const socket = await openSocket(t, pod.url, { patienceMs: 60_000 });
  await socket.init({ token });
  return socket;
}

async function subscribed(t: TestContext, pod: Pod, token: string, user: string): Promise<Socket> {
  const socket = await open(t, pod, token);
  socket.subscribe('1', 'subscription ($user: ID!) { tick(user: $user) }', { user });
  return socket;
}

/** The code with which a connection is refused, or undefined. */
async function refusalOf(t: TestContext, pod: Pod, token: string): Promise<number | undefined> {
  const socket = await openSocket(t, pod.url);
  socket.send({ type: 'connection_init', payload: { token } });
  const outcome = await Promise.race([socket.expectClose(), socket.next().catch(() => undefined)]);
  return outcome && 'code' in outcome ? outcome.code : socket.isOpen ? undefined : (await socket.expectClose()).code;
}

async function post(pod: Pod, token: string): Promise<number> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  return (await fetch(pod.endpoint, { method: 'POST', headers, body: '{"query":"{ me }"}' })).status;
}

async function revoke(pod: Pod, body: object): Promise<{ readonly status: number; readonly reply: Reply }> {
  const url = `${pod.admin}/admin/connections/revoke`;
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  return { status: response.status, reply: (await response.json()) as Reply };
}

describe('a revocation on one of two pods', () => {
  it('closes the connections of both in the middle of a flood of events, and those of nobody else (S-16)', async (t) => {
    const { redis, prefix, pods } = await stage(t);
    const bus = new RedisBus({ url: redis.url, prefix, log: logLines().log });
    t.after(() => bus.close());
    await bus.start();
    const [ida, bob] = [await sign({ sub: 'ida' }), await sign({ sub: 'bob' })];
    const closing = await Promise.all(pods.flatMap((pod) => [1, 2, 3].map(() => subscribed(t, pod, ida, 'ida'))));
    const staying = await Promise.all(pods.map((pod) => subscribed(t, pod, bob, 'bob')));
    let at = 0;
    let isOver = false;
    const publisher = publisherOf(bus);
    const flood = (async () => {
      for (; !isOver; at++) {
        const messages = ['ida', 'bob'].map((user) => ({
          channel: channelName(prefix, 'ticks', [{ path: 'user', value: user }]),
          payload: JSON.stringify({ user, at }),
        }));
        await publisher.publish(messages);
      }
    })();
    await waitFor('events at each', () => [...closing, ...staying].every(({ unread }) => unread.length > 10), 60_000);
    const { status, reply } = await revoke(pods[0], { sub: 'ida' });
    const byName = reply.pods.toSorted((one, other) => one.pod.localeCompare(other.pod));
    // A pod that has not closed its connections within 4.5 s would be named silent.
    assert.deepEqual(
      [status, reply.closed, byName, reply.silent],
      [
        200,
        6,
        [
          { pod: 'a', closed: 3 },
          { pod: 'b', closed: 3 },
        ],
        [],
      ],
    );
    const answeredAt = at;
    for (const socket of closing) {
      assert.deepEqual(await socket.expectClose(), { code: 4403, reason: 'Revoked' });
      const last = socket.unread.at(-1)?.payload as { data: { tick: number } };
      assert.ok(last.data.tick <= answeredAt, 'no event that was published after the answer');
    }
    const closedWith = closing.map(({ unread }) => unread.length);
    const received = staying.map(({ unread }) => unread.length);
    await waitFor('further events for others', () =>
      staying.every(({ unread }, i) => unread.length > received[i]! + 10),
    );
    isOver = true;
    await flood;
    assert.ok(staying.every(({ isOpen }) => isOpen));
    assert.deepEqual(
      closing.map(({ unread }) => unread.length),
      closedWith,
      'no event after the close',
    );
  });

  it('keeps the token out of both, and of a pod that starts afterwards, by POST, socket and refresh; a token issued later gets in (S-16)', async (t) => {
    const { pods, start } = await stage(t);
    const token = await sign({ sub: 'ida' });
    const socket = await open(t, pods[0], token);
    await revoke(pods[1], { sub: 'ida' });
    assert.deepEqual(await socket.expectClose(), { code: 4403, reason: 'Revoked' });
    const later = await sign({ sub: 'ida', iat: fromNow(2) });
    for (const pod of [...pods, await start('c')]) {
      assert.equal(await refusalOf(t, pod, token), 4403);
      assert.equal(await post(pod, token), 401);
      assert.equal(await refusalOf(t, pod, later), undefined);
      assert.equal(await post(pod, later), 200);
      const refreshed = await open(t, pod, later);
      refreshed.send({ type: 'ping', payload: { token } });
      assert.deepEqual(await refreshed.expectClose(), { code: 4403, reason: 'Revoked' });
    }
  });

  it('names a pod that does not answer, which acts when it can', async (t) => {
    const { settings } = await settingsOf(t);
    const frozen = spawnPod(t, { ...settings, POD_NAME: 'b' });
    const [asked] = await Promise.all([startPod(t, { ...settings, POD_NAME: 'a' }), frozen.started()]);
    const token = await sign({ sub: 'ida' });
    const socket = await open(t, frozen, token);
    frozen.process.kill('SIGSTOP');
    const { status, reply } = await revoke(asked, { sub: 'ida' });
    frozen.process.kill('SIGCONT');
    assert.deepEqual([status, reply.closed, reply.silent], [202, 0, ['b']]);
    assert.match(reply.note!, /have not answered/);
    assert.equal((await socket.expectClose()).code, 4403);
  });

  it('counts a pod that was closed no more', async (t) => {
    const { pods } = await stage(t);
    await pods[1].stop();
    const { status, reply } = await revoke(pods[0], { sub: 'ida' });
    assert.deepEqual([status, reply.silent], [200, []]);
  });

  it('acts on the other pods when Redis is back, if Redis was away, and says so', async (t) => {
    const { pods, redis } = await stage(t);
    const [asked, other] = pods;
    const token = await sign({ sub: 'ida' });
    const sockets = [await open(t, asked, token), await open(t, other, token)];
    await redis.stop();
    for (const pod of pods) await pod.reports({ bus: 'away' });
    const { status, reply } = await revoke(asked, { sub: 'ida' });
    assert.deepEqual([status, reply.closed, reply.pods.length], [202, 1, 1]);
    assert.match(reply.note!, /Redis did not accept it.*only this pod has closed/);
    assert.equal((await sockets[0]!.expectClose()).code, 4403);
    assert.equal(await refusalOf(t, asked, token), 4403);
    assert.ok(sockets[1]!.isOpen);
    await asked.counts('crier_revocations_behind', 1);
    const again = await startRedisServer({ port: redis.port });
    t.after(() => again.stop());
    assert.deepEqual(await sockets[1]!.expectClose(), { code: 4403, reason: 'Revoked' });
    assert.equal(await post(other, token), 401);
  });

  it('lists the connections of both', async (t) => {
    const { pods } = await stage(t);
    const token = await sign({ sub: 'ida' });
    for (const pod of pods) await open(t, pod, token);
    const response = await fetch(`${pods[0].admin}/admin/connections?sub=ida`);
    const { open: count, connections } = (await response.json()) as { open: number; connections: { pod: string }[] };
    assert.equal(count, 2);
    assert.deepEqual(connections.map(({ pod }) => pod).sort(), ['a', 'b']);
  });
});
