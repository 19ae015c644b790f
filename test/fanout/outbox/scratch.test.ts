import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { frameLength, layOut, Rest } from '../../../src/fanout/outbox/frame.ts';
import type { Message } from '../../../src/fanout/outbox/frame.ts';
import { MAX_BATCH_BYTES } from '../../../src/fanout/outbox/outbox.ts';
import { Scratch } from '../../../src/fanout/outbox/scratch.ts';

const PIECES = ['{', '}', 'a', 'bc', 'de', 'x'.repeat(200)].map((text) => Buffer.from(text));
const PREFIXES = ['a', 'b', 'cc', 'dd'].map((text) => Buffer.from(text));

const rest = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 3 }).map((pieces) => new Rest(pieces));
const messages = fc.array(fc.record({ prefix: fc.constantFrom(...PREFIXES), rest }), { minLength: 1, maxLength: 3 });

function lengthOf(written: readonly Message[]): number {
  return written.reduce((sum, { prefix, rest: { length } }) => sum + frameLength(prefix.length + length), 0);
}

describe('memory for writes', () => {
  it('holds what was asked for, whatever it held before', () => {
    fc.assert(
      fc.property(fc.array(messages, { maxLength: 60 }), (writes) => {
        const scratch = new Scratch();
        for (const written of writes) {
          const bytes = lengthOf(written);
          const expected = Buffer.alloc(bytes);
          layOut(expected, written);
          assert.ok(scratch.lay(written, bytes).equals(expected));
        }
      }),
    );
  });

  it('is less than twice what was asked for, for who may keep it', () => {
    const scratch = new Scratch();
    for (const size of [1, 2, 3, 2000, 2045, 60_000, 300, MAX_BATCH_BYTES - 4]) {
      const written = [{ prefix: Buffer.alloc(0), rest: new Rest([Buffer.alloc(size)]) }];
      const bytes = lengthOf(written);
      assert.ok(scratch.lay(written, bytes).buffer.byteLength < 2 * bytes, `${bytes} bytes`);
    }
  });

  it('is not written to again once it was given away', () => {
    const scratch = new Scratch();
    const [one, other] = [PREFIXES[0]!, PREFIXES[1]!].map((prefix) => [{ prefix, rest: new Rest([PIECES[0]!]) }]);
    const kept = scratch.lay(one!, lengthOf(one!));
    const before = Buffer.from(kept);
    scratch.giveAway();
    scratch.lay(other!, lengthOf(other!));
    assert.ok(kept.equals(before));
  });
});
