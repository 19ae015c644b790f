import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { Gauge, Registry } from 'prom-client';
import { AdminServer } from '../../src/http/admin.ts';
import type { AdminOptions } from '../../src/http/admin.ts';
import { waitFor } from '../support/wait-for.ts';

async function startAdmin(t: TestContext, overrides: Partial<AdminOptions> = {}) {
  const admin = new AdminServer({
    host: '127.0.0.1',
    port: 0,
    logger: pino({ level: 'silent' }),
    status: () => 'ready',
    details: () => ({}),
    metrics: () => Promise.resolve(''),
    metricsContentType: 'text/plain',
    ...overrides,
  });
  t.after(() => admin.close());
  await admin.start();
  const get = async (path: string, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${admin.port}${path}`, { method });
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
  };
  return { admin, get };
}

/** Blocks the event loop. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('/healthz', () => {
  it('answers 200 in every status, because it depends on neither Kafka nor Redis', async (t) => {
    for (const status of ['starting', 'ready', 'draining'] as const) {
      const { get } = await startAdmin(t, {
        status: () => status,
        details: () => {
          throw new Error('/healthz read the status');
        },
      });
      assert.equal((await get('/healthz')).status, 200);
    }
  });

  it('answers 503 after the event loop was blocked for too long, and 200 when it turns again', async (t) => {
    const { get } = await startAdmin(t, { maxLoopLagMs: 300 });
    const answer = get('/healthz');
    block(1200);
    const { status, text } = await answer;
    assert.equal(status, 503);
    assert.match(text, /"status":"stuck","loopLagMs":\d+/);
    await waitFor('health', async () => (await get('/healthz')).status === 200);
  });
});

describe('/readyz', () => {
  it('answers 200 when started and not draining, else 503', async (t) => {
    let status: 'starting' | 'ready' | 'draining' = 'starting';
    const { get } = await startAdmin(t, { status: () => status });
    assert.deepEqual([(await get('/readyz')).status, (await get('/readyz')).text], [503, '{"status":"starting"}\n']);
    status = 'ready';
    assert.equal((await get('/readyz')).status, 200);
    status = 'draining';
    assert.equal((await get('/readyz')).status, 503);
  });

  it('stays ready with a missing topic and without Redis, and names both', async (t) => {
    const { get } = await startAdmin(t, {
      details: () => ({ missingTopics: ['bids'], redis: 'unavailable', kafka: 'connected' }),
    });
    const answer = await get('/readyz');
    assert.equal(answer.status, 200);
    assert.deepEqual(JSON.parse(answer.text), {
      missingTopics: ['bids'],
      redis: 'unavailable',
      kafka: 'connected',
      status: 'ready',
    });
  });
});

describe('/metrics', () => {
  it("answers with the registry's text and content type", async (t) => {
    const registry = new Registry();
    new Gauge({ name: 'crier_test', help: 'Of this test.', registers: [registry] }).set(3);
    const { get } = await startAdmin(t, {
      metrics: () => registry.metrics(),
      metricsContentType: registry.contentType,
    });
    const answer = await get('/metrics');
    assert.equal(answer.type, registry.contentType);
    assert.match(answer.text, /^crier_test 3$/m);
  });

  it('answers 500 without internals when a collector fails, and keeps serving', async (t) => {
    const { get } = await startAdmin(t, { metrics: () => Promise.reject(new Error('secret')) });
    const answer = await get('/metrics');
    assert.equal(answer.status, 500);
    assert.doesNotMatch(answer.text, /secret/);
    assert.equal((await get('/healthz')).status, 200);
  });
});

describe('AdminServer', () => {
  it('answers any other path with the list of paths', async (t) => {
    const { get } = await startAdmin(t);
    assert.deepEqual(await get('/health?x'), {
      status: 404,
      type: 'text/plain; charset=utf-8',
      text: 'not found; there are /healthz, /readyz, /metrics\n',
    });
    assert.equal((await get('/readyz', 'POST')).status, 405);
  });

  it('refuses a port that is in use, naming the variable', async (t) => {
    const { admin } = await startAdmin(t);
    await assert.rejects(startAdmin(t, { port: admin.port }), {
      code: 'ERR_SETUP',
      message: new RegExp(`^ADMIN_PORT: port ${admin.port} on 127.0.0.1 is in use; `),
    });
  });

  it('closes twice, before start, and with a request that never ends', async (t) => {
    const { admin } = await startAdmin(t);
    const socket = connect(admin.port, '127.0.0.1').on('error', () => undefined);
    t.after(() => socket.destroy());
    await new Promise((resolve) => socket.write('GET /healthz HTTP/1.1\r\n', resolve));
    await Promise.all([admin.close(), admin.close()]);
    await assert.rejects(fetch(`http://127.0.0.1:${admin.port}/healthz`));
    const unused = new AdminServer({
      host: '127.0.0.1',
      port: 0,
      logger: pino({ level: 'silent' }),
      status: () => 'ready',
      details: () => ({}),
      metrics: () => Promise.resolve(''),
      metricsContentType: '',
    });
    await unused.close();
  });
});
