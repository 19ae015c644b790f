import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compactTextAt, memberNames } from '../../../src/base/json/tokens.ts';

describe('compactTextAt', () => {
  it('is the JSON text of the value at a path, without spaces, with all digits and in the order of the members', () => {
    const json =
      ' { "a" : { "10" : 9007199254740993 , "2" : [ 1.50 , -1e3 , { "x" : null } ] } , "b,c" : " { \\" } " } ';
    assert.equal(compactTextAt(json, ['a']), '{"10":9007199254740993,"2":[1.50,-1e3,{"x":null}]}');
    assert.equal(compactTextAt(json, ['a', '2']), '[1.50,-1e3,{"x":null}]');
    assert.equal(compactTextAt(json, ['b,c']), '" { \\" } "');
    assert.equal(compactTextAt(json, []), '{"a":{"10":9007199254740993,"2":[1.50,-1e3,{"x":null}]},"b,c":" { \\" } "}');
  });

  it('is that of the last of equal members, whose names may be escaped', () => {
    assert.equal(compactTextAt('{"a":1,"\\u0061":2,"b":{"a":3}}', ['a']), '2');
    assert.equal(compactTextAt('{"a":{}}', ['a']), '{}');
  });

  it('reads strings of millions of escapes', () => {
    const escapes = String.raw`\"\\`.repeat(2_000_000);
    assert.equal(compactTextAt(`{ "a" : [ "${escapes}" ], "b" : 1 }`, ['a']), `["${escapes}"]`);
    const backslashes = String.raw`\\`.repeat(4_000_000);
    assert.equal(compactTextAt(`{ "a" : "${backslashes}", "b" : 1 }`, ['b']), '1');
  });

  it('is undefined where there is no value', () => {
    for (const path of [['b'], ['a', 'a'], ['a', 'b', 'c'], ['x']])
      assert.equal(compactTextAt('{"a":{"b":[{"c":1}]}}', path), undefined);
  });
});

describe('memberNames', () => {
  it('are the names of the outermost members, in their order', () => {
    const json = '{ "a" : { "x" : [ { "y" : 1 } ] } , "b,:{" : ":" , "\\u0063" : 1.5 , "d" : null }';
    assert.deepEqual([...memberNames(json)], ['a', 'b,:{', 'c', 'd']);
    assert.deepEqual([...memberNames('{}')], []);
  });

  it('reads long texts, and no further than it is asked', () => {
    const long = 'x'.repeat(5_000_000);
    assert.deepEqual([...memberNames(`{"a":"${long}\\"","b":1}`)], ['a', 'b']);
    assert.deepEqual([...memberNames(`{"a":"${String.raw`\"`.repeat(4_000_000)}","b":1}`)], ['a', 'b']);
    assert.equal(memberNames(`{"a":1,"b":"${long}`).next().value, 'a');
  });
});
