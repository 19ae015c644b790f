import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Quota } from '../../../src/base/limits/quota.ts';

describe('Quota', () => {
  it('counts each key by itself, until it is deleted', () => {
    const quota = new Quota(2);
    quota.add('ida');
    quota.add('ben');
    assert.ok(!quota.isReached('ida'));
    quota.add('ida');
    assert.ok(quota.isReached('ida') && !quota.isReached('ben'));
    quota.delete('ida');
    assert.ok(!quota.isReached('ida'));
  });

  it('has no limit with 0', () => {
    const quota = new Quota(0);
    for (let i = 0; i < 100; i++) quota.add('ida');
    assert.ok(!quota.isReached('ida'));
    quota.delete('ida');
  });
});
