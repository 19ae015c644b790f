import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Gauge, Registry } from 'prom-client';
import { metricsRoute } from '../../../src/ops/metrics/metrics-route.ts';
import { startAdmin } from '../../support/admin.ts';

describe('/metrics', () => {
  it('answers with the text format and its content type', async (t) => {
    const registry = new Registry();
    new Gauge({ name: 'crier_test', help: 'Of this test.', registers: [registry] }).set(3);
    const { get } = await startAdmin(t, [['/metrics', metricsRoute(registry)]]);
    const answer = await get('/metrics');
    assert.equal(answer.type, registry.contentType);
    assert.match(answer.text, /^crier_test 3$/m);
  });

  it('answers with OpenMetrics if the Accept header asks for it', async (t) => {
    const { get } = await startAdmin(t, [['/metrics', metricsRoute(new Registry())]]);
    const answer = await get('/metrics', 'GET', { accept: 'application/openmetrics-text; version=1.0.0' });
    assert.equal(answer.type, Registry.OPENMETRICS_CONTENT_TYPE);
    assert.match(answer.text, /# EOF\n$/);
  });

  it('answers 500 without internals when a collector fails, and keeps serving', async (t) => {
    const registry = new Registry();
    let isFailing = true;
    new Gauge({
      name: 'crier_test',
      help: 'Of this test.',
      registers: [registry],
      collect() {
        if (isFailing) throw new Error('secret');
        this.set(3);
      },
    });
    const { get } = await startAdmin(t, [['/metrics', metricsRoute(registry)]]);
    const answer = await get('/metrics');
    assert.equal(answer.status, 500);
    assert.doesNotMatch(answer.text, /secret/);
    isFailing = false;
    assert.match((await get('/metrics')).text, /^crier_test 3$/m);
  });
});
