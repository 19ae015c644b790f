import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closeLabel } from '../../src/websocket/protocol.ts';

describe('closeLabel', () => {
  it('names the codes that mean something, and no more labels than those', () => {
    for (const code of [1000, 1001, 1006, 1008, 1013, 4400, 4403, 4408, 4409, 4429]) {
      assert.equal(closeLabel(code), String(code));
    }
    const labels = new Set(Array.from({ length: 5000 }, (_, code) => closeLabel(code)));
    assert.ok(labels.has('other'));
    assert.ok(labels.size < 40, `${labels.size} labels`);
  });
});
