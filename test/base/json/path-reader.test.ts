import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { PathReader } from '../../../src/base/json/path-reader.ts';
import { JsonScanner } from '../../../src/base/json/scanner.ts';
import { valueAt } from '../../../src/base/json/value-at.ts';
import { writtenJson } from '../../support/written-json.ts';

const scanner = new JsonScanner();

function readerOf(...paths: string[]): PathReader {
  return new PathReader(
    scanner,
    paths.map((path) => path.split('.')),
  );
}

const read = (reader: PathReader, text: string) => reader.read(Buffer.from(text));

/** What the reader finds in the text must be what JSON.parse finds. True if the reader decided it. */
function agrees(reader: PathReader, paths: readonly (readonly string[])[], bytes: Buffer): boolean {
  const values = reader.read(bytes);
  if (!values) return false;
  const parsed: unknown = JSON.parse(bytes.toString());
  // As texts: an object of JSON.parse may have a member `__proto__`. JSON.stringify of an absent value is undefined.
  assert.deepEqual(
    values.map((value) => JSON.stringify(value)),
    paths.map((path) => JSON.stringify(valueAt(parsed, path))),
    `${JSON.stringify(paths)} of ${bytes.toString()}`,
  );
  return true;
}

describe('PathReader', () => {
  it('reads values of every kind, and undefined where a path leads to none', () => {
    const paths = [
      's',
      'n',
      'o.x',
      'o',
      'l',
      't',
      'nil',
      'absent',
      'o.absent',
      's.length',
      'l.0',
      'o.x.y',
      '__proto__',
    ];
    const text = '{"s":"a é \\n","n":-1.5,"o":{"x":7},"l":[1,"b"],"t":true,"nil":null,"other":{"s":"no"}}';
    assert.deepEqual(read(readerOf(...paths), text), [
      'a é \n', -1.5, 7, { x: 7 }, [1, 'b'], true, null, ...Array<undefined>(6).fill(undefined),
    ]); // prettier-ignore
  });

  it('leaves to JSON.parse what is not an object as JSON.stringify writes it', () => {
    const texts = ['', 'null', '[]', '5', '{', '{"a":1', '{"a":1}}', '{"a":1},', '{"a":1.0}', '{"b":1e3}', '{"a" :1}', '{"\\u0061":1}', '\u{feff}{"a":1}']; // prettier-ignore
    for (const text of texts) assert.equal(read(readerOf('a'), text), undefined, text);
    assert.equal(readerOf('a').read(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), undefined);
    assert.deepEqual(read(readerOf('a'), ' {"a":1} \n'), [1]);
  });

  it('leaves a text to JSON.parse that repeats a key of a path, and no other', () => {
    const reader = readerOf('a.b', 'c');
    assert.equal(read(reader, '{"a":{"b":1},"a":{"b":2}}'), undefined);
    assert.equal(read(reader, '{"a":{"b":1,"b":2}}'), undefined);
    assert.equal(read(reader, '{"c":1,"x":0,"c":1}'), undefined);
    assert.deepEqual(read(reader, '{"x":1,"x":2,"a":{"b":1,"x":{"b":2}},"c":3}'), [1, 3]);
    assert.deepEqual(read(reader, '{"c":3}'), [undefined, 3]);
  });

  it('remembers a bounded number of keys, and reads objects with more', () => {
    const members = Array.from({ length: 5000 }, (_, i) => `"k${i}":${i}`).join();
    const reader = readerOf('a', 'k4999');
    for (let i = 0; i < 3; i++) assert.deepEqual(read(reader, `{${members},"a":1}`), [1, 4999]);
  });

  it('agrees with JSON.parse, however an object is written and damaged', () => {
    const key = fc.constantFrom('a', 'b', 'int', 'unwanted', 'x', 'aReallyLongKey', '__proto__', 'é', '');
    const leaf = fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.double(), fc.boolean(), fc.constant(null));
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        leaf,
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 6 }),
      ),
    }));
    const paths = fc.array(fc.array(key, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 });
    const damage = fc.option(fc.tuple(fc.nat(), fc.constantFrom(...'{}[]",:\\0-e ')), { freq: 3 });
    let decided = 0;
    fc.assert(
      fc.property(
        fc.dictionary(key, tree),
        paths,
        fc.infiniteStream(fc.nat(999)),
        damage,
        (root, some, choices, change) => {
          const reader = new PathReader(scanner, some);
          // Twice, so that keys are known, and predicted.
          for (let i = 0; i < 2; i++) {
            const bytes = Buffer.from(writtenJson(root, () => choices.next().value as number));
            if (change) bytes[change[0] % bytes.length] = change[1].charCodeAt(0);
            if (agrees(reader, some, bytes)) decided++;
          }
        },
      ),
      { numRuns: 3000 },
    );
    assert.ok(decided > 1000, `only ${decided} texts were decided without JSON.parse`);
  });
});
