import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { textWeight, weightOf } from '../../../src/base/json/weight.ts';

describe('weightOf', () => {
  it('counts strings by the bytes that V8 stores', () => {
    assert.ok(textWeight('x'.repeat(60_000)) >= 60_000 && textWeight('x'.repeat(60_000)) < 61_000);
    assert.ok(textWeight('€'.repeat(1000)) >= 2000);
  });

  it('counts structure that is much larger than its text', () => {
    assert.ok(weightOf(Array.from({ length: 1000 }, () => ({}))) > 50_000);
    assert.ok(weightOf(Array.from({ length: 1000 }, () => [])) > 30_000);
    assert.ok(weightOf({ a: 1, b: { c: 'x'.repeat(100) } }) > 200);
  });

  it('accepts data of any depth', () => {
    const depth = 100_000;
    assert.ok(weightOf(JSON.parse('['.repeat(depth) + ']'.repeat(depth))) > depth);
  });

  it('counts nothing for values without memory of their own', () => {
    assert.equal(weightOf(undefined) + weightOf(null) + weightOf(7) + weightOf(true), 0);
  });
});
