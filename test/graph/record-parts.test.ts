import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  KEY_PART,
  describeKey,
  headerPart,
  keyPathPart,
  keyTextAt,
  partLabel,
  partsReader,
} from '../../src/graph/record-parts.ts';

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

describe('a decoded key', () => {
  const key = Buffer.from('{"id":7}');
  const struct = { key, keyValue: { id: 7, at: { no: '9007199254740993' }, none: null } };

  it('has values at the paths of its members, and leaves of them alone', () => {
    const readKey = partsReader(['id', 'at.no', 'at', 'none', 'toString'].map(keyPathPart));
    assert.deepEqual(readKey(struct), ['7', '9007199254740993', undefined, undefined, undefined]);
    for (const other of [{ key, keyValue: 'x' }, { key }, { key: null }, { key, keyProblem: 'unknown_schema' }])
      assert.deepEqual(new Set(readKey(other)), new Set([undefined]));
  });

  it('stands for a value of the payload: by its path, by its only member, or as a scalar', () => {
    assert.equal(keyTextAt(struct, ['id']), '7');
    assert.equal(keyTextAt(struct, ['at', 'no']), '9007199254740993');
    assert.equal(keyTextAt(struct, ['order', 'id']), undefined, 'of several members none is meant');
    assert.equal(keyTextAt({ key, keyValue: { id: 7 } }, ['order', 'order_id']), '7');
    assert.equal(keyTextAt({ key, keyValue: { at: { id: 7 } } }, ['id']), undefined);
    assert.equal(keyTextAt({ key: Buffer.from('"x"'), keyValue: 'x' }, ['id']), 'x');
    assert.equal(keyTextAt({ key, keyValue: ['x'] }, ['id']), undefined);
    assert.equal(keyTextAt({ key: Buffer.from('7') }, ['id']), '7');
    assert.equal(keyTextAt({ key: Buffer.from([0, 0, 0, 0, 1, 7]), keyProblem: 'unknown_schema' }, ['id']), undefined);
  });

  it('is described without its values', () => {
    const names = Array.from({ length: 12 }, (_, i) => [`m${i}`, 'secret']);
    const keys = [struct, { key, keyValue: Object.fromEntries(names) as unknown }, { key: Buffer.from('secret') }];
    assert.deepEqual(keys.map(describeKey), [
      'a key that is a struct of "id", "at", "none"',
      'a key that is a struct of "m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", 2 more',
      'a key without members',
    ]);
    assert.equal(describeKey({ key: null }), 'no key');
    assert.equal(describeKey({ key: Buffer.from([0, 7]) }), 'a binary key');
    assert.match(describeKey({ key, keyProblem: 'needs_registry' }), /a schema, and no registry for it is set/);
    assert.match(describeKey({ key, keyProblem: 'not_avro' }), /cannot be decoded \(not_avro\)/);
  });

  it('is no text if it has a zero byte, as a windowed key has', () => {
    const windowed = Buffer.concat([Buffer.from('x'), Buffer.from('0000017000000000', 'hex')]);
    assert.deepEqual(partsReader([KEY_PART])({ key: windowed }), [undefined]);
  });
});

describe('partLabel', () => {
  it('names a part so that no path of a payload is mistaken for it', () => {
    assert.deepEqual(['key', KEY_PART, keyPathPart('id'), headerPart('a"b')].map(partLabel), ['key', "the record's key", '"id" of the record\'s key', 'the record\'s header "a\\"b"']); // prettier-ignore
  });
});
