import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fits } from '../../src/websocket/held-bytes.ts';

const holding = (heldBytes: number, key?: string) => ({
  heldBytes,
  operation: key === undefined ? undefined : { key, documentBytes: 100 },
});

describe('fits', () => {
  it('counts the bytes of each operation, and each document once', () => {
    const holdings = [holding(10, 'a'), holding(10, 'a'), holding(10, 'b'), holding(10)];
    assert.ok(fits(holdings, 240));
    assert.ok(!fits(holdings, 239));
  });

  it('is true without operations', () => {
    assert.ok(fits([], 0));
  });
});
