import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KEY_PART, headerPart, partLabel, partsReader } from '../../src/graph/record-parts.ts';

const read = partsReader([KEY_PART, headerPart('tenant'), headerPart('__proto__')]);

describe('partsReader', () => {
  it('reads the key and headers as UTF-8 text, without a look at what the text is', () => {
    const headers = { tenant: Buffer.from('äcme'), other: Buffer.from('x') };
    assert.deepEqual(read({ key: Buffer.from('"7"'), headers }), ['"7"', 'äcme', undefined]);
    assert.deepEqual(read({ key: Buffer.from(''), headers: { tenant: 'text' } }), ['', 'text', undefined]);
  });

  it('reads the last of several headers of one name', () => {
    const headers = { tenant: [Buffer.from('first'), Buffer.from('last')] };
    assert.deepEqual(read({ key: null, headers }), [undefined, 'last', undefined]);
  });

  it('reads nothing where there is no value, or none in UTF-8', () => {
    const invalid = Buffer.from([0xff]);
    for (const headers of [
      undefined,
      {},
      { tenant: undefined },
      { tenant: null },
      { tenant: [] },
      { tenant: invalid },
    ]) {
      assert.deepEqual(read({ key: invalid, headers }), [undefined, undefined, undefined]);
    }
  });
});

describe('partLabel', () => {
  it('names a part so that no path of a payload is mistaken for it', () => {
    assert.deepEqual(['key', KEY_PART, headerPart('a"b')].map(partLabel), ['key', "the record's key", 'the record\'s header "a\\"b"']); // prettier-ignore
  });
});
