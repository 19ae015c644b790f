import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/config/config.ts';
import { RecordSampler, isParentBased } from '../../src/config/record-sampler.ts';
import { SpanBudget } from '../../src/ops/tracing/span-budget.ts';
import { configRefusal } from '../support/config-refusal.ts';
import { recordedSpans } from '../support/recorded-spans.ts';

const PARENT = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };

/** Sampled of 1,000 records. */
function sampledOf(sampler: RecordSampler, isParentSampled?: boolean): number {
  const parent = isParentSampled === undefined ? undefined : { ...PARENT, isSampled: isParentSampled };
  return Array.from({ length: 1000 }, () => sampler.isSampled(parent)).filter(Boolean).length;
}

describe('RecordSampler', () => {
  it("follows the producer's decision, and decides by chance without one", () => {
    const sampler = new RecordSampler(0.5);
    assert.equal(sampledOf(sampler, true), 1000);
    assert.equal(sampledOf(sampler, false), 0);
    const byChance = sampledOf(sampler);
    assert.ok(byChance > 300 && byChance < 700, `${byChance}`);
  });

  it('reads its ratio for each record', () => {
    const sampler = new RecordSampler(0);
    assert.equal(sampledOf(sampler), 0);
    sampler.ratio = 1;
    assert.equal(sampledOf(sampler), 1000);
  });

  it('has the ratio of the sampler that OTEL_TRACES_SAMPLER names, or that of OTEL_TRACES_SAMPLER_ARG where it takes one', () => {
    const named = (OTEL_TRACES_SAMPLER: string, OTEL_TRACES_SAMPLER_ARG = '') => [
      readConfig({ OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG }).OTEL_TRACES_SAMPLER_ARG,
      isParentBased(OTEL_TRACES_SAMPLER),
    ];
    assert.deepEqual(named(''), [0.001, true]);
    assert.deepEqual(named('', '0.25'), [0.25, true]);
    assert.deepEqual(named('', '0'), [0, true]);
    assert.deepEqual(named('always_on'), [1, false]);
    assert.deepEqual(named('always_on', '0.1'), [1, false]);
    assert.deepEqual(named('always_off'), [0, false]);
    assert.deepEqual(named('traceidratio', '0.1'), [0.1, false]);
    assert.deepEqual(named('parentbased_always_on'), [1, true]);
    assert.deepEqual(named('parentbased_always_off', '0.1'), [0, true]);
    assert.deepEqual(named('parentbased_traceidratio', '0.1'), [0.1, true]);
    assert.deepEqual(named('parentbased_traceidratio'), [1, true]);
    assert.deepEqual(named('jaeger_remote', 'endpoint=http://jaeger:14250'), [0.001, true]);
  });

  for (const argument of ['2', 'x', '-1', 'NaN']) {
    it(`refuses OTEL_TRACES_SAMPLER_ARG=${argument}`, () => {
      assert.equal(
        configRefusal({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: argument }),
        `OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1, got "${argument}"`,
      );
    });
  }
});

describe('SpanBudget', () => {
  it('refuses spans beyond its rate, and counts them', () => {
    const budget = new SpanBudget(0.001);
    assert.equal(budget.take(), false);
    const ample = new SpanBudget(1000);
    const taken = Array.from({ length: 100_000 }, () => ample.take()).filter(Boolean).length;
    assert.ok(taken >= 1000 && taken < 10_000, `${taken}`);
    assert.equal(ample.started, taken);
    assert.equal(ample.refused, 100_000 - taken);
  });

  it('bounds the spans of records that their producers sample', () => {
    const { spans, ended } = recordedSpans({ perSecond: 3 });
    const context = { ...PARENT, isSampled: true };
    const started = Array.from({ length: 1000 }, () => spans.start('x', { kind: 0, attributes: {}, parent: context }));
    for (const span of started) span?.end();
    assert.equal(ended().length, spans.budget.started);
    assert.ok(ended().length < 10, `${ended().length}`);
  });
});
