import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { unknownNames } from './promql.ts';

const KNOWN = new Map<string, readonly string[]>([
  ['up', []],
  ['records_total', ['topic', 'reason']],
  ['lag', ['topic']],
  ['lag:max_rate5m', []],
]);

describe('unknownNames', () => {
  const good = [
    'up == 0',
    'sum by (topic, reason) (rate(records_total{topic=~"a}|(b",job!="c"}[5m])) > 0.5 * sum by (job) (lag offset 10m)',
    'lag > 60 and lag > 0 or (lag unless lag) != lag{instance="x"}',
    'lag:max_rate5m > 14.4 * 0.01 or histogram_quantile(0.5, sum without (topic) (lag))',
  ];
  for (const expr of good) it(`finds nothing wrong in ${expr}`, () => assert.deepEqual(unknownNames(expr, KNOWN), []));

  const bad = [
    ['a metric', 'sum by (topic) (rate(record_total{topics="a"}[5m])) / up', ['no metric record_total']],
    ['a metric of a recording rule', 'lag:min_rate5m > 1', ['no metric lag:min_rate5m']],
    ['a label of a matcher', 'up + lag{topic="a",reason!~"b"}', ['no label reason of lag']],
    ['a label of an aggregation', 'sum by (reason) (max by (topic) (lag) / records_total)', ['no label reason of lag']],
    ['a label of the other operand', 'sum by (topic) (lag) / sum by (topic) (up)', ['no label topic of up']],
  ] as const;
  for (const [title, expr, expected] of bad)
    it(`reports ${title} that does not exist`, () => assert.deepEqual(unknownNames(expr, KNOWN), expected));

  it('does not read an aggregation whose labels follow its operand', () => {
    assert.throws(() => unknownNames('sum(lag) by (topic)', KNOWN), /before its operand: sum\(lag\) by \(topic\)/);
  });
});
