import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ObjectKeys } from '../../../src/base/json/object-keys.ts';
import type { Key } from '../../../src/base/json/object-keys.ts';
import { JsonScanner } from '../../../src/base/json/scanner.ts';

const scanner = new JsonScanner();

/** The meanings of the keys of objects, one after another, which the same ObjectKeys sees; undefined: one was not known. */
function meaningsOf<Meaning>(
  keys: ObjectKeys<Meaning>,
  objects: readonly (readonly string[])[],
): (Meaning[] | undefined)[] {
  return objects.map((names) => {
    assert.ok(scanner.load(Buffer.from(names.map((name) => `${JSON.stringify(name)}:`).join(''))));
    const meanings: Meaning[] = [];
    let key: Key<Meaning> | undefined;
    let at = 0;
    for (let i = 0; i < names.length; i++) {
      key = keys.at(scanner, at, key);
      if (!key) return undefined;
      meanings.push(key.meaning);
      at += key.length;
    }
    return meanings;
  });
}

describe('ObjectKeys', () => {
  it('learns each key once, in whatever order keys appear', () => {
    const name = fc.oneof(
      fc.constantFrom('a', 'b', 'ab', 'abc', 'abcd', 'abcde', 'abcdefg', 'abcdefgh', '', 'é', '€', '😀', '\u007f'),
      fc.string({ unit: 'grapheme', maxLength: 20 }),
    );
    const isPlain = (key: string) => !/["\\\u0000-\u001f]|\p{Cs}/u.test(key);
    fc.assert(
      fc.property(fc.array(fc.array(name.filter(isPlain), { maxLength: 12 }), { maxLength: 8 }), (objects) => {
        const learnt: string[] = [];
        const keys = new ObjectKeys((key) => {
          learnt.push(key);
          return `of ${key}`;
        });
        assert.deepEqual(
          meaningsOf(keys, objects),
          objects.map((names) => names.map((key) => `of ${key}`)),
        );
        assert.deepEqual(learnt, [...new Set(objects.flat())]);
      }),
      { numRuns: 1000 },
    );
  });

  it('predicts the next key from the previous object, even if keys are omitted', () => {
    const keys = new ObjectKeys((name) => name);
    const [first] = [meaningsOf(keys, [['a', 'b', 'c', 'd']])];
    assert.deepEqual(first, [['a', 'b', 'c', 'd']]);
    scanner.load(Buffer.from('"a":"d":'));
    const a = keys.at(scanner, 0, undefined);
    assert.equal(a?.next?.meaning, 'b');
    assert.equal(keys.at(scanner, 4, a)?.meaning, 'd');
    assert.equal(a.next.meaning, 'b', 'a key that was omitted once is still known');
  });

  it('does not remember a key without a meaning', () => {
    let asked = 0;
    const keys = new ObjectKeys((name) => (name === 'b' ? (asked++, undefined) : name));
    assert.deepEqual(meaningsOf(keys, [['a', 'b'], ['a'], ['b'], ['a', 'c']]), [
      undefined,
      ['a'],
      undefined,
      ['a', 'c'],
    ]);
    assert.equal(asked, 2);
  });

  for (const text of [
    '',
    'a":',
    '"a"',
    '"a" :',
    '"a',
    '"',
    '"\\u0061":',
    '"a\\":',
    '"\n":',
    `"${'x'.repeat(2000)}":`,
  ]) {
    it(`knows no key in ${JSON.stringify(text.slice(0, 20))}`, () => {
      const keys = new ObjectKeys((name) => name);
      meaningsOf(keys, [['a']]);
      scanner.load(Buffer.from('"b":"a":"c":"d":'));
      scanner.load(Buffer.from(text));
      assert.equal(keys.at(scanner, 0, undefined), undefined);
    });
  }

  it('does not mistake a prefix of a key for the key', () => {
    const keys = new ObjectKeys((name) => name);
    const names = ['a', 'ab', 'abc', 'abcd', 'abcde', 'abcdef'];
    for (const one of names) meaningsOf(keys, [[one]]);
    for (const one of names) assert.deepEqual(meaningsOf(keys, [[one]]), [[one]]);
  });
});
