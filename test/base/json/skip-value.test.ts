import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { JsonScanner } from '../../../src/base/json/scanner.ts';
import { endOfUnread } from '../../../src/base/json/skip-value.ts';

const scanner = new JsonScanner();

function endIn(text: string, levels = 10): number {
  assert.ok(scanner.load(Buffer.from(text)));
  return endOfUnread(scanner, 0, levels);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('endOfUnread', () => {
  it('finds the end of each object and list, whatever follows', () => {
    const container = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()));
    fc.assert(
      fc.property(
        container,
        fc.constantFrom('', ' ', '\t'),
        fc.constantFrom(',"a":1}', '', ']', '"'),
        (value, space, after) => {
          const text = JSON.stringify(value, null, space);
          assert.equal(endIn(text + after, 1000), Buffer.byteLength(text));
        },
      ),
    );
  });

  it('skips numbers and escapes that JSON.stringify prints differently', () => {
    const text = '{"ts_ns":1700000000456789012,"a":1.0,"\\u0041}":"\\/\\u0022}"}';
    assert.equal(endIn(`${text},`), text.length);
  });

  it('refuses what JSON.parse refuses', () => {
    const byte = fc.constantFrom(
      '',
      '"',
      '\\',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '0',
      '.',
      'e',
      '-',
      '\n',
      '\u0000',
      'n',
      ' ',
    );
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 3 }),
        fc.constantFrom('', ' '),
        fc.nat(),
        byte,
        (value, space, offset, one) => {
          const json = JSON.stringify([value], null, space);
          const at = offset % json.length;
          const text = json.slice(0, at) + one + json.slice(at + 1);
          const end = endIn(text, 1000);
          const isWhole = end >= 0 && scanner.token(end) === Buffer.byteLength(text);
          assert.equal(isWhole, isJson(text.trimStart()) && text.trimStart() === text, text);
        },
      ),
      { numRuns: 2000 },
    );
    for (const text of [
      '[01]',
      '[1.]',
      '[+1]',
      '[tru]',
      '["\\x"]',
      '["\\u00"]',
      '[1,]',
      '{"a":1,}',
      '{a:1}',
      '[NaN]',
      '[.5]',
      '[1e]',
    ])
      assert.equal(endIn(text), -1, text);
  });

  it('returns -1 where there is no end, or too many levels', () => {
    for (const text of ['{', '{"a":"}', '[[]', '{"a":"\\"}']) assert.equal(endIn(text), -1, text);
    assert.equal(endIn('[[[]]]', 3), 6);
    assert.equal(endIn('[[[]]]', 2), -1);
  });
});
