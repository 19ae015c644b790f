import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decodeRecord } from '../../../src/kafka/decoding/record.ts';
import type { Decoded } from '../../../src/kafka/decoding/record.ts';

const limits = { maxBytes: 65_536, maxDepth: 64 };

function decode(value: string | Buffer): Decoded {
  return decodeRecord(typeof value === 'string' ? Buffer.from(value) : value, limits);
}

function nested(depth: number): string {
  return `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`;
}

/** Levels of a JSON value, counted by recursion. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe('decodeRecord', () => {
  it('returns the object of a record', () => {
    assert.deepEqual(decode('{"auctionId":1,"event":{"eventCode":"0-T é 😀"},"bids":[1,null]}'), {
      payload: { auctionId: 1, event: { eventCode: '0-T é 😀' }, bids: [1, null] },
    });
    assert.deepEqual(decode(' \t\r\n{} '), { payload: {} });
  });

  const poison: [title: string, value: string | Buffer, reason: string][] = [
    ['a value one byte over the limit', `"${'x'.repeat(limits.maxBytes - 1)}"`, 'too_large'],
    ['a million keys (S-72)', `{${Array.from({ length: 1_000_000 }, (_, i) => `"k${i}":1`).join()}}`, 'too_large'],
    ['10 MB of [ (S-72)', '['.repeat(10_000_000), 'too_large'],
    ['a lone continuation byte', Buffer.from([0x7b, 0x22, 0x80, 0x22, 0x3a, 0x31, 0x7d]), 'invalid_utf8'],
    ['an encoded surrogate', Buffer.from('{"a":"\xed\xa0\x80"}', 'latin1'), 'invalid_utf8'],
    ['an overlong slash (S-76)', Buffer.from('{"a":"\xc0\xaf"}', 'latin1'), 'invalid_utf8'],
    ['UTF-16', Buffer.from('\ufeff{"é":1}', 'utf16le'), 'invalid_utf8'],
    ['an object one level too deep', nested(65), 'too_deep'],
    ['arrays 5,000 deep (S-71)', `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`, 'too_deep'],
    ['depth 10,000 without an end (S-71)', '{"a":'.repeat(10_000), 'too_deep'],
    ['an empty value', '', 'not_json'],
    ['text', 'auction 1 has closed', 'not_json'],
    ['an object that is cut off', '{"auctionId":1', 'not_json'],
    ['an unfinished escape', '{"a":"\\', 'not_json'],
    ['two objects', '{}{}', 'not_json'],
    ['NaN', '{"a":NaN}', 'not_json'],
    ['Infinity', '{"a":-Infinity}', 'not_json'],
    ['a comma at the end', '{"a":1,}', 'not_json'],
    ['a raw line feed in a string', '{"a":"\n"}', 'not_json'],
    ['a byte order mark (S-76)', '\ufeff{"a":1}', 'not_json'],
    ['closing brackets first', ']'.repeat(100) + '{'.repeat(100), 'not_json'],
    ['null', 'null', 'not_object'],
    ['a number', '42', 'not_object'],
    ['a string', '"auction"', 'not_object'],
    ['a boolean', 'true', 'not_object'],
    ['an array', '[{"auctionId":1}]', 'not_object'],
  ];
  for (const [title, value, reason] of poison) {
    it(`is poison, ${reason}: ${title}`, () => assert.deepEqual(decode(value), { poison: reason }));
  }

  it('must limit depth: JSON.stringify overflows the stack on deep objects', () => {
    const deep = JSON.parse(nested(20_000)) as unknown;
    assert.throws(() => JSON.stringify(deep), RangeError);
  });

  it('accepts records exactly at the limits', () => {
    assert.equal(decode(`{"a":"${'x'.repeat(limits.maxBytes - 8)}"}`).poison, undefined);
    assert.equal(decode(nested(64)).poison, undefined);
    assert.equal(decodeRecord(Buffer.from('{"a":1}'), { maxBytes: 7, maxDepth: 1 }).poison, undefined);
  });

  it('ignores brackets in strings, also after escaped quotes', () => {
    const text = JSON.stringify({ ['{"['.repeat(100)]: '\\"[[{'.repeat(100), tail: '\\' });
    assert.deepEqual(decode(text), { payload: JSON.parse(text) as unknown });
  });

  it('keeps __proto__ as an own property and changes no prototype', () => {
    const { payload } = decode('{"__proto__":{"isAdmin":true}}');
    assert.ok(payload);
    assert.deepEqual(Object.keys(payload), ['__proto__']);
    assert.equal(Object.getPrototypeOf(payload), Object.prototype);
    assert.equal(payload['isAdmin'], undefined);
  });

  it('keeps no reference to the buffer', () => {
    const value = Buffer.from('{"eventCode":"0-T"}');
    const decoded = decodeRecord(value, limits);
    value.fill(0);
    assert.deepEqual(decoded, { payload: { eventCode: '0-T' } });
  });

  it('never throws, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const decoded = decode(Buffer.from(bytes));
        assert.equal(Object.keys(decoded).length, 1);
      }),
      { numRuns: 2000 },
    );
  });

  it('agrees with JSON.parse about the object, and with a simple count about its depth', () => {
    const text = fc.oneof(
      fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', '\\', 'a') }),
      fc.string({ unit: 'binary' }),
    );
    const { object } = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: 'large' }, text, fc.integer(), tie('array'), tie('object')),
      array: fc.array(tie('value'), { maxLength: 3 }),
      object: fc.dictionary(text, tie('value'), { maxKeys: 3 }),
    }));
    fc.assert(
      fc.property(object, fc.integer({ min: 1, max: 6 }), (value, maxDepth) => {
        const json = JSON.stringify(value);
        const decoded = decodeRecord(Buffer.from(json), { maxBytes: 1_000_000, maxDepth });
        if (depthOf(value) > maxDepth) assert.deepEqual(decoded, { poison: 'too_deep' });
        else assert.equal(JSON.stringify(decoded.payload), json);
      }),
      { numRuns: 2000 },
    );
  });
});
