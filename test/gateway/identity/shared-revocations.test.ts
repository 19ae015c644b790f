import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { Bus } from '../../../src/bus/bus.ts';
import { MemoryBus } from '../../../src/bus/memory/memory-bus.ts';
import { RedisBus } from '../../../src/bus/redis/redis-bus.ts';
import { printRevocation } from '../../../src/gateway/identity/revocation.ts';
import { Revocations } from '../../../src/gateway/identity/revocations.ts';
import { SharedRevocations } from '../../../src/gateway/identity/shared-revocations.ts';
import { startRedisServer } from '../../../stack/redis-server.ts';
import { logLines } from '../../bus/log-lines.ts';
import { redisServer } from '../../support/services.ts';
import { waitFor } from '../../support/wait-for.ts';

/** One pod's revocations. */
async function startPod(t: TestContext, bus: Bus) {
  const { log, lines } = logLines();
  const revocations = new Revocations();
  let added = 0;
  const shared = new SharedRevocations({ control: bus.control, revocations, onAdded: () => added++, log });
  t.after(async () => {
    await shared.close();
    await revocations.close();
    await bus.close();
  });
  await bus.start();
  await shared.start();
  /** As the pod that an operator asks. */
  const revoke = (sub: string) => {
    const atMs = Date.now();
    const revocation = { name: 'sub', value: sub, atMs, untilMs: atMs + 3_600_000, reason: '' };
    const text = printRevocation(revocation);
    revocations.add(text, revocation);
    return shared.keep(text, revocation.untilMs);
  };
  const refuses = (sub: string) => revocations.refuses({ claims: { sub }, token: { sub, iat: 1 } });
  return { bus, shared, revocations, revoke, refuses, lines, added: () => added };
}

const redisPod = (t: TestContext, url: string) =>
  startPod(t, new RedisBus({ url, prefix: 'crier:', log: logLines().log }));

describe('shared revocations', { concurrency: 4 }, () => {
  it('reach another pod at once, and a pod that starts later before its start is complete', async (t) => {
    const { url } = await redisServer(t);
    const [first, second] = [await redisPod(t, url), await redisPod(t, url)];
    assert.equal(await first.revoke('ida'), 'kept');
    await waitFor('the other pod', () => second.refuses('ida'));
    assert.deepEqual([first.added(), second.added()], [0, 1]);
    const late = await redisPod(t, url);
    assert.ok(late.refuses('ida') && !late.refuses('bob'));
  });

  it('reach a pod that was away from Redis', async (t) => {
    const server = await redisServer(t);
    const pod = await redisPod(t, server.url);
    await server.stop();
    await waitFor('the pod to notice', () => !pod.bus.isAvailable);
    const again = await startRedisServer({ port: server.port });
    t.after(() => again.stop());
    const other = await redisPod(t, server.url);
    await other.revoke('ida');
    await waitFor('the pod', () => pod.refuses('ida') && !pod.shared.isBehind);
  });

  it('that were made while Redis was away reach the other pods when it is back', async (t) => {
    const server = await redisServer(t);
    const [first, second] = [await redisPod(t, server.url), await redisPod(t, server.url)];
    await server.stop();
    await waitFor('both pods to notice', () => !first.bus.isAvailable && !second.bus.isAvailable);
    assert.equal(await first.revoke('ida'), 'away');
    assert.ok(first.refuses('ida') && first.shared.isBehind);
    const again = await startRedisServer({ port: server.port });
    t.after(() => again.stop());
    await waitFor('the other pod', () => second.refuses('ida'));
    await waitFor('the first pod', () => !first.shared.isBehind);
    assert.ok((await redisPod(t, server.url)).refuses('ida'));
  });

  it('survive a Redis that loses its data', async (t) => {
    const server = await redisServer(t);
    const pods = [await redisPod(t, server.url), await redisPod(t, server.url)];
    for (let i = 0; i < 1_200; i++) assert.equal(await pods[0]!.revoke(`user-${i}`), 'kept');
    await server.stop();
    const empty = await startRedisServer({ port: server.port });
    t.after(() => empty.stop());
    await waitFor('Redis to have them', async () => {
      const kept = await pods[1]!.bus.control.kept('control:revocations').catch(() => []);
      return kept.length === 1_200;
    });
    assert.ok((await redisPod(t, server.url)).refuses('user-1199'));
  });

  it('are read later by a pod that starts while Redis is away, which logs so meanwhile', async (t) => {
    const server = await redisServer(t);
    assert.equal(await (await redisPod(t, server.url)).revoke('ida'), 'kept');
    // The first pod writes it back.
    await server.stop();
    const late = await redisPod(t, server.url);
    assert.ok(late.shared.isBehind);
    assert.match(JSON.stringify(late.lines), /revocations could not be read/);
    const again = await startRedisServer({ port: server.port });
    t.after(() => again.stop());
    await waitFor('the pod', () => late.refuses('ida') && !late.shared.isBehind);
    assert.equal(late.added(), 1, 'connections are compared with them');
  });

  it('work in one process without Redis', async (t) => {
    const pod = await startPod(t, new MemoryBus({ log: logLines().log }));
    assert.equal(await pod.revoke('ida'), 'kept');
    assert.ok(pod.refuses('ida') && !pod.shared.isBehind);
  });

  it('are not read again after the end of the pod', async (t) => {
    const { log, lines } = logLines();
    let fail!: (reason: Error) => void;
    const control = {
      listen: () => Promise.resolve(() => undefined),
      kept: () => new Promise<never>((_, reject) => (fail = reject)),
      keep: () => Promise.resolve(0),
      send: () => Promise.resolve(),
    };
    const revocations = new Revocations();
    const shared = new SharedRevocations({ control, revocations, onAdded: () => undefined, log });
    t.after(() => revocations.close());
    const started = shared.start();
    await waitFor('the read', () => fail as unknown);
    await shared.close();
    fail(new Error('away'));
    await started;
    assert.deepEqual(lines, []);
  });

  it('that Redis has no room for, when they are written again, are logged', async (t) => {
    const { log, lines } = logLines();
    const revocations = new Revocations();
    const atMs = Date.now();
    revocations.add('a', { name: 'sub', value: 'ida', atMs, untilMs: atMs + 60_000, reason: '' });
    const control = {
      listen: () => Promise.resolve(() => undefined),
      kept: () => Promise.resolve([]),
      keep: () => Promise.resolve(1),
      send: () => Promise.resolve(),
    };
    const shared = new SharedRevocations({ control, revocations, onAdded: () => undefined, log });
    t.after(() => Promise.all([shared.close(), revocations.close()]));
    await shared.start();
    assert.match(JSON.stringify(lines), /"refused":1.*this pod alone knows/);
  });

  it('beyond the bound are refused, and none is forgotten', async (t) => {
    const { url } = await redisServer(t);
    const pod = await redisPod(t, url);
    const untilMs = Date.now() + 3_600_000;
    const many = Array.from({ length: 20_000 }, (_, i) => ({
      text: printRevocation({ name: 'sub', value: `user-${i}`, atMs: Date.now(), untilMs, reason: '' }),
      untilMs,
    }));
    assert.equal(await pod.bus.control.keep('control:revocations', many, 20_000), 0);
    await waitFor('all of them', () => pod.revocations.isFull);
    assert.equal(await pod.revoke('ida'), 'full');
    assert.equal((await pod.bus.control.kept('control:revocations')).length, 20_000);
    assert.ok(pod.refuses('user-0') && pod.refuses('user-19999'));
  });
});
