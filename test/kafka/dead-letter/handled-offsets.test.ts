import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { HandledOffsets } from '../../../src/kafka/dead-letter/handled-offsets.ts';

describe('HandledOffsets', () => {
  it('restores its offsets from a commit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 40 }), fc.array(fc.integer({ min: 0, max: 60 })), (start, deltas) => {
        const done = new Set(deltas.map((delta) => start + delta));
        const before = new HandledOffsets(start);
        for (const offset of done) before.add(offset);
        const after = new HandledOffsets(before.next, before.metadata);
        for (let offset = start; offset <= start + 61; offset++) {
          assert.equal(before.has(offset), done.has(offset));
          assert.equal(after.has(offset), done.has(offset));
        }
        assert.equal(done.has(before.next), false);
      }),
    );
  });

  it('refuses more gaps than a commit can hold', () => {
    const handled = new HandledOffsets(0);
    for (let offset = 1; offset < 4000; offset += 2) handled.add(offset);
    assert.throws(() => handled.metadata, /too many/);
  });

  it('ignores metadata that crier did not write', () => {
    for (const metadata of ['', 'other', 'crier:', 'crier:x', 'crier:-1+2']) {
      assert.equal(new HandledOffsets(7, metadata).has(7), false);
    }
  });
});
