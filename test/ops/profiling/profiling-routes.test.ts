import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { LoopLag } from '../../../src/gateway/http/loop-lag.ts';
import { Profiling } from '../../../src/ops/profiling/profiling-routes.ts';
import type { ProfilingOptions } from '../../../src/ops/profiling/profiling-routes.ts';
import { startAdmin } from '../../support/admin.ts';
import { waitFor } from '../../support/wait-for.ts';

async function startProfiling(t: TestContext, overrides: Partial<ProfilingOptions> = {}) {
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => lines.push((JSON.parse(line) as { msg: string }).msg) });
  const { routes } = new Profiling({ log, lagMs: () => 0, ...overrides });
  const { admin, get } = await startAdmin(t, routes);
  const post = (path: string) => fetch(`http://127.0.0.1:${admin.port}/debug/profile/${path}`, { method: 'POST' });
  /** Starts a profile of a minute, and resolves when it is being recorded. */
  const begin = async (path: string) => {
    const before = lines.length;
    const caller = request({ port: admin.port, host: '127.0.0.1', method: 'POST', path: `/debug/profile/${path}` });
    caller.on('error', () => undefined).end();
    t.after(() => void caller.destroy());
    await waitFor('the recording', () => lines.slice(before).includes('recording a profile'));
    return caller;
  };
  return { get, post, begin, lines };
}

/** Keeps the CPU busy under a name of its own. */
function burnForTheProfile(ms: number): string[] {
  const end = performance.now() + ms;
  let texts: string[] = [];
  while (performance.now() < end) texts = Array.from({ length: 1000 }, (_, index) => `${index} of ${end}`);
  return texts;
}

describe('/debug/profile', () => {
  for (const [path, extension] of [
    ['cpu', 'cpuprofile'],
    ['heap-sampling', 'heapprofile'],
  ] as const) {
    it(`${path}: streams a .${extension} that names the functions that ran`, async (t) => {
      const { post, lines } = await startProfiling(t);
      const answer = post(`${path}?seconds=1`);
      await waitFor('the recording', () => lines.includes('recording a profile'));
      await waitFor('some work', () => burnForTheProfile(20).length > 0 && lines.length > 0);
      for (let round = 0; round < 10; round++)
        await new Promise((resolve) => setImmediate(resolve, burnForTheProfile(20)));
      const response = await answer;
      assert.equal(response.status, 200);
      assert.match(
        response.headers.get('content-disposition') ?? '',
        new RegExp(`^attachment; filename="crier-[^"/:]+\\.${extension}"$`),
      );
      const text = await response.text();
      assert.match(text, /burnForTheProfile/);
      assert.equal(typeof JSON.parse(text), 'object');
    });
  }

  it('heap-snapshot: streams a snapshot that is whole', async (t) => {
    const { post } = await startProfiling(t);
    const response = await post('heap-snapshot');
    assert.equal(response.status, 200);
    assert.match(response.headers.get('content-disposition') ?? '', /\.heapsnapshot"$/);
    const { snapshot, nodes } = (await response.json()) as { snapshot: { node_count: number }; nodes: number[] };
    assert.ok(snapshot.node_count > 1000);
    assert.equal(nodes.length % snapshot.node_count, 0);
  });

  for (const [path, announced] of [
    ['cpu?seconds=1', 1],
    ['heap-sampling?seconds=1', 0],
    ['heap-snapshot', 1],
  ] as const) {
    it(`${path}: ${announced ? 'announces the long turn of its start, once' : 'announces no long turn'}`, async (t) => {
      let announcements = 0;
      const { post } = await startProfiling(t, { beforeLongTurn: () => announcements++ });
      await (await post(path)).arrayBuffer();
      assert.equal(announcements, announced);
    });
  }

  it('refuses a second profile with 409 while one is recorded', async (t) => {
    const { post, begin } = await startProfiling(t);
    await begin('cpu?seconds=60');
    for (const path of ['cpu', 'heap-sampling', 'heap-snapshot']) {
      const response = await post(path);
      assert.equal(response.status, 409);
      assert.match(await response.text(), /^a CPU profile is being recorded/);
    }
  });

  for (const path of ['cpu', 'heap-sampling']) {
    it(`${path}: stops when the caller hangs up, and serves the next one`, async (t) => {
      const { post, begin, lines } = await startProfiling(t);
      const caller = await begin(`${path}?seconds=60`);
      caller.destroy();
      await waitFor('the end', () => lines.includes('a profile has ended'));
      assert.ok(lines.includes('the caller of a profile has gone; it is discarded'));
      assert.equal((await post(`${path}?seconds=1`)).status, 200);
    });
  }

  it('heap-snapshot: serves the next profile after a caller that hangs up in the middle', async (t) => {
    const { post, begin, lines } = await startProfiling(t);
    const caller = await begin('heap-snapshot');
    await once(caller, 'response');
    caller.destroy();
    await waitFor('the end', () => lines.includes('a profile has ended'));
    assert.equal((await post('cpu?seconds=1')).status, 200);
  });

  it('refuses with 503 while the event loop is late', async (t) => {
    const lag = new LoopLag().start();
    t.after(() => lag.close());
    const { post } = await startProfiling(t, { lagMs: () => lag.lagMs });
    const answer = post('cpu?seconds=1');
    burnForTheProfile(1300);
    const response = await answer;
    assert.equal(response.status, 503);
    assert.match(await response.text(), /^the event loop is \d+ ms late/);
    await waitFor('the loop', () => lag.lagMs < 500);
    assert.equal((await post('cpu?seconds=1')).status, 200);
  });

  it('refuses with 503 when memory is short, a snapshot already at twice the heap', async (t) => {
    const { heapUsed } = process.memoryUsage();
    let available = heapUsed + 50 * 1024 * 1024;
    const { post } = await startProfiling(t, { availableMemory: () => available });
    const response = await post('heap-snapshot');
    assert.equal(response.status, 503);
    assert.match(await response.text(), /^a heap snapshot can need \d+ MB, and the process has \d+ MB left/);
    available = 10 * 1024 * 1024;
    assert.equal((await post('cpu?seconds=1')).status, 503);
  });

  it('refuses seconds out of bounds, another method and a web page', async (t) => {
    const { get, post } = await startProfiling(t);
    for (const seconds of ['0', '61', '-1', '1.5', 'x', '', '1e1']) {
      assert.equal((await post(`cpu?seconds=${seconds}`)).status, 400, seconds);
    }
    assert.equal((await get('/debug/profile/cpu')).status, 405);
    assert.equal((await get('/debug/profile/heap-snapshot', 'POST', { origin: 'http://localhost:4001' })).status, 403);
  });
});
