import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { lengthOf as messageLength, writeFrames, ResultBytes } from '../../../../src/gateway/fanout/outbox/frame.ts';
import type { Message } from '../../../../src/gateway/fanout/outbox/frame.ts';
import { MAX_BATCH_BYTES } from '../../../../src/gateway/fanout/outbox/outbox.ts';
import { Scratch } from '../../../../src/gateway/fanout/outbox/scratch.ts';

const PIECES = ['{', '}', 'a', 'bc', 'de', 'x'.repeat(200)].map((text) => Buffer.from(text));
const PREFIXES = ['a', 'b', 'cc', 'dd'].map((text) => Buffer.from(text));

const result = fc
  .tuple(fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 3 }), fc.boolean())
  .map(([pieces, isDeflated]) => new ResultBytes(pieces, undefined, isDeflated));
const messages = fc.array(fc.record({ prefix: fc.constantFrom(...PREFIXES), result }), { minLength: 1, maxLength: 3 });

function lengthOf(written: readonly Message[]): number {
  return written.reduce((sum, message) => sum + messageLength(message, true), 0);
}

describe('Scratch', () => {
  it('returns the frames of the given messages, whatever the page held before', () => {
    fc.assert(
      fc.property(fc.array(messages, { maxLength: 60 }), (writes) => {
        const scratch = new Scratch();
        for (const written of writes) {
          const bytes = lengthOf(written);
          const expected = Buffer.alloc(bytes);
          writeFrames(expected, written);
          assert.ok(scratch.write(written, bytes).equals(expected));
        }
      }),
    );
  });

  it('uses a page of less than twice the bytes written', () => {
    const scratch = new Scratch();
    for (const size of [1, 2, 3, 2000, 2045, 60_000, 300, MAX_BATCH_BYTES - 4]) {
      const written = [{ prefix: Buffer.alloc(0), result: new ResultBytes([Buffer.alloc(size)]) }];
      const bytes = lengthOf(written);
      assert.ok(scratch.write(written, bytes).buffer.byteLength < 2 * bytes, `${bytes} bytes`);
    }
  });

  it('never writes to a detached page again', () => {
    const scratch = new Scratch();
    const [one, other] = [PREFIXES[0]!, PREFIXES[1]!].map((prefix) => [
      { prefix, result: new ResultBytes([PIECES[0]!]) },
    ]);
    const kept = scratch.write(one!, lengthOf(one!));
    const before = Buffer.from(kept);
    scratch.detach();
    scratch.write(other!, lengthOf(other!));
    assert.ok(kept.equals(before));
  });
});
