import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  MAX_PARTS_LENGTH,
  OMITTED_PARTS,
  parseParts,
  partsOfFields,
  printParts,
  printPartsField,
} from '../../src/bus/carried-parts.ts';

const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

describe('carried parts', () => {
  it('survive a message whatever characters they have', () => {
    const text = fc.option(fc.string({ unit: 'binary', maxLength: 100 }), { nil: null });
    const name = fc.oneof(fc.string({ unit: 'binary', maxLength: 20 }), fc.constantFrom('__proto__', 'toJSON'));
    const headers = fc.array(fc.tuple(name, text), { maxLength: 5 }).map((pairs) => Object.fromEntries(pairs));
    const parts = fc.oneof(fc.record({ key: text, headers }), fc.record({ headers }));
    fc.assert(
      fc.property(parts, (sent) => {
        const field = printPartsField(printParts(sent));
        assert.match(field, /^ record=[!-~]+$/);
        const received = parseParts(partsOfFields(` other=1${field} next=2`)!)!;
        assert.equal(Object.getPrototypeOf(received.headers), null);
        assert.deepEqual(plain(received), plain(sent));
        assert.equal('key' in received, 'key' in sent);
      }),
    );
  });

  it('are omitted when they exceed their bound, and always fit it', () => {
    assert.notEqual(printParts({ key: 'k'.repeat(3000), headers: {} }), OMITTED_PARTS);
    for (const unit of ['k', 'é', '\u0000']) {
      for (let length = 100; length < 4000; length += 50) {
        const text = printParts({ key: unit.repeat(length), headers: {} });
        assert.ok(text.length <= MAX_PARTS_LENGTH);
      }
      assert.equal(printParts({ headers: { a: unit.repeat(1_000_000) } }), OMITTED_PARTS);
    }
  });

  it('are not read from a text that is malformed', () => {
    for (const text of [OMITTED_PARTS, '', 'x', 'bnVsbA', '%%%']) assert.equal(parseParts(text), undefined);
  });
});
