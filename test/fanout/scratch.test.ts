import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { frameLength, layOut } from '../../src/fanout/frame.ts';
import { Scratch } from '../../src/fanout/scratch.ts';

const RESULTS = ['{"data":1}}', '{"data":2}}', '{"data":"longer"}}', 'x'.repeat(200)].map((text) => Buffer.from(text));
const PREFIXES = ['a', 'b', 'cc', 'dd'].map((text) => Buffer.from(text));

const messages = fc
  .array(fc.tuple(fc.constantFrom(...PREFIXES), fc.constantFrom(...RESULTS)), { minLength: 1, maxLength: 3 })
  .map((pairs) => pairs.flat());

function lengthOf(parts: readonly Buffer[]): number {
  let length = 0;
  for (let i = 0; i < parts.length; i += 2) length += frameLength(parts[i]!.length + parts[i + 1]!.length);
  return length;
}

describe('memory for writes', () => {
  it('holds what was asked for, whatever it held before', () => {
    fc.assert(
      fc.property(fc.array(messages, { maxLength: 20 }), (writes) => {
        const scratch = new Scratch();
        for (const parts of writes) {
          const bytes = lengthOf(parts);
          const expected = Buffer.alloc(bytes);
          layOut(expected, parts);
          assert.ok(scratch.lay(parts, bytes).equals(expected));
        }
      }),
    );
  });

  it('is not written to again once it was given away', () => {
    const scratch = new Scratch();
    const [one, other] = [PREFIXES[0]!, PREFIXES[1]!].map((prefix) => [prefix, RESULTS[0]!]);
    const kept = scratch.lay(one!, lengthOf(one!));
    const before = Buffer.from(kept);
    scratch.giveAway();
    scratch.lay(other!, lengthOf(other!));
    assert.ok(kept.equals(before));
  });
});
