import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closeLabel } from '../../../src/gateway/connections/close-codes.ts';

describe('closeLabel', () => {
  it('returns the code of RFC 6455 and the protocol, and "other" for all others', () => {
    for (const code of [1000, 1001, 1006, 1008, 1013, 1015, 4400, 4403, 4408, 4409, 4429]) {
      assert.equal(closeLabel(code), String(code));
    }
    const labels = new Set(Array.from({ length: 5000 }, (_, code) => closeLabel(code)));
    assert.ok(labels.has('other'));
    assert.ok(labels.size < 40, `${labels.size} labels`);
  });
});
