import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'graphql';
import type { DocumentNode } from 'graphql';
import { fits } from '../../../src/gateway/operations/held-bytes.ts';

const holding = (heldBytes: number, document?: DocumentNode) => ({
  heldBytes,
  operation: document && { document, documentBytes: 100 },
});

describe('fits', () => {
  it('counts the bytes of each operation, and each document once', () => {
    const [one, other] = [parse('{ a }'), parse('{ b }')];
    const holdings = [holding(10, one), holding(10, one), holding(10, other), holding(10)];
    assert.ok(fits(holdings, 240));
    assert.ok(!fits(holdings, 239));
  });

  it('counts a document twice that was parsed twice', () => {
    const holdings = [holding(10, parse('{ a }')), holding(10, parse('{ a }'))];
    assert.ok(fits(holdings, 220));
    assert.ok(!fits(holdings, 219));
  });

  it('is true without operations', () => {
    assert.ok(fits([], 0));
  });
});
