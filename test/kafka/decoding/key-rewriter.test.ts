import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MAX_LEARNT, MAX_LEARNT_OF_RECORD } from '../../../src/kafka/decoding/key-tree.ts';
import { createRewriting, expected, LIMITS, LONGEST_KEY, PLACES, rewritingProperty } from './random-records.ts';

describe('KeyRewriter', () => {
  it('returns the text and the values of the parsing path, or declines', () => {
    let good = 0;
    let rewritten = 0;
    const count = (isGood: boolean, isRewritten: boolean) => {
      if (isGood) good++;
      if (isRewritten) rewritten++;
    };
    fc.assert(rewritingProperty(count), { numRuns: 3000 });
    assert.ok(rewritten > good / 3, `only ${rewritten} of ${good} were rewritten`);
  });

  it('never throws, whatever the bytes', () => {
    const { rewrite } = createRewriting();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        assert.equal(rewrite(Buffer.from(bytes)), undefined);
        const inside = Buffer.concat([Buffer.from('{"a":"'), bytes, Buffer.from('"}')]);
        const outcome = rewrite(inside);
        if (outcome) assert.deepEqual(outcome, expected(inside, LIMITS));
      }),
      { numRuns: 2000 },
    );
  });

  it('rewrites the records of the load test: compact, pretty-printed, with keys left out, with other text', async () => {
    const { rewrite } = createRewriting();
    const recorded = await readFile('loadtest/records/auction.json', 'utf8');
    const { auction } = JSON.parse(recorded) as { auction: Record<string, unknown> };
    const variants = [recorded, JSON.stringify({ auction }), recorded.replaceAll('"ONLINE"', '"Müller €\\n\\u00e9"')];
    const names = Object.keys(auction);
    for (let i = 0; i < names.length; i++) {
      const some = Object.fromEntries(
        names.filter((_, at) => (at * 7) % 11 !== i % 11).map((name) => [name, auction[name]]),
      );
      variants.push(JSON.stringify({ auction: some }));
    }
    // The record has more keys than are learnt from one record.
    for (let i = 0; i < 8; i++) rewrite(recorded);
    for (const variant of variants)
      assert.deepEqual(rewrite(variant), expected(Buffer.from(variant), LIMITS) ?? variant);
  });

  for (const [what, json] of [
    ['white space, except before a colon', ' {\n "a": 1 ,\t"bC": [ 1 , { } , [ ] ] }\r\n'],
    ['numbers that JSON.stringify prints differently', '{"a":1.0,"bC":-0,"x":[1e3,0.0000001,12345678901234567890]}'],
    ['unnecessary escapes', '{"a":"\\u00e9\\/","bC":"\\ud83d\\ude00 \\ud83d","x":"\\u0001"}'],
    ['names that objects inherit', '{"constructor":"x","toString":1,"__typename":"Y"}'],
    ['keys in any script', '{"größe":1,"日本":2,"😀":3}'],
    ['one key at different nodes', '{"a":{"a":{"a":1}},"bC":{"a":{"a":7}}}'],
    ['values of all kinds at the end of a path', '{"a":{"bC":true},"bC":[{"a":{"a":1}}],"__typename":null}'],
    ['an empty object', '{}'],
  ] as const) {
    it(`rewrites ${what}`, () => {
      const { rewrite } = createRewriting();
      assert.deepEqual(rewrite(json), expected(Buffer.from(json), LIMITS));
    });
  }

  for (const [what, json] of [
    ['a repeated key', '{"a":1,"a":2}'],
    ['two keys of one name', '{"bC":1,"b_c":2}'],
    ['a number beyond a double', '{"a":[1e999]}'],
    ['__proto__', '{"a":{"__proto__":1}}'],
    ['integer keys', '{"b":1,"12":2}'],
    ['keys whose names are integers', '{"b":1,"$12":2}'],
    ['keys with escapes', '{"\\u0061":1}'],
    ['a key of more than 64 characters', `{"${LONGEST_KEY}c":1}`],
    ['an array', '[{"a":1}]'],
    ['an object with bytes after it', '{"a":1}{}'],
    ['text that is not JSON', '{"a":01}'],
    ['values nested too deep', `{"a":${'['.repeat(64)}${']'.repeat(64)}}`],
    ['more than 256 KB', `{"a":"${'x'.repeat(256 * 1024)}"}`],
    ['an unterminated string', '{"a":"\\'],
  ] as const) {
    it(`declines ${what}, and rewrites the next record`, () => {
      const { rewrite } = createRewriting();
      assert.equal(rewrite(json), undefined);
      assert.deepEqual(rewrite('{"aB":1}')?.text, '{"a_b":1}');
    });
  }

  it('tells objects at one node apart', () => {
    const json = '{"x":[{"bC":1},{"b_c":2},[{"bC":3}],{"bC":{"bC":4}}]}';
    const { rewrite } = createRewriting();
    assert.equal(rewrite(json)?.text, json.replaceAll('bC', 'b_c'));
  });

  it('keeps keys where a place keeps them', () => {
    const json =
      '{"aB":{"bC":{"xY":1}},"bC":[{"fooBar":{"Ann.Lee@x.com":1,"ann-lee@x.com":2}}],"a":{"a":{"b_c":{"xY":0}}}}';
    const texts = PLACES.map((place) => createRewriting(LIMITS, place).rewrite(json)?.text);
    assert.deepEqual(texts, [
      undefined,
      '{"a_b":{"b_c":{"x_y":1}},"b_c":[{"fooBar":{"Ann.Lee@x.com":1,"ann-lee@x.com":2}}],"a":{"a":{"b_c":{"xY":0}}}}',
      json,
    ]);
  });

  it('has room for the largest result of a record', () => {
    const { rewrite } = createRewriting();
    for (const item of [
      '1e20',
      '1.0',
      '"\\/"',
      '{"aBcD":1}',
      '{"ABCDEFGHIJKLMNOPQRSTUVWXYZ":1e20}',
      '{"İİİİİİİİİİİİ":0}',
    ]) {
      const json = `{"a":[${Array.from({ length: Math.floor((256 * 1024 - 8) / (Buffer.byteLength(item) + 1)) }, () => item).join()}]}`;
      const outcome = rewrite(json);
      if (outcome) assert.equal(outcome.text, expected(Buffer.from(json), LIMITS)?.text);
    }
  });

  it('rewrites records of up to MAX_RECORD_DEPTH levels', () => {
    const limits = { ...LIMITS, maxDepth: 1000 };
    const { rewrite } = createRewriting(limits);
    const json = '{"a":'.repeat(999) + '{}' + '}'.repeat(999);
    // Each record teaches a few levels.
    for (let i = 0; i < 300; i++) rewrite(json);
    assert.equal(rewrite(json)?.text, json);
    assert.equal(rewrite(`{"a":${json}}`), undefined);
  });

  it('learns at most 64 keys per record, and holds at most 4,000', () => {
    const { rewrite, tree } = createRewriting();
    const flood = (from: number) => `{${Array.from({ length: 100_000 }, (_, i) => `"k${from + i}":0`).join()}}`;
    assert.equal(rewrite(flood(0).slice(0, 250_000) + '":0}'), undefined);
    assert.equal(tree.size, MAX_LEARNT_OF_RECORD);
    let most = 0;
    for (let i = 0; i < MAX_LEARNT; i++) {
      const json = `{"keyOne":1,"x${i}":[],"y${i}":{"zA":${i}}}`;
      assert.equal(rewrite(json)?.text, expected(Buffer.from(json), LIMITS)?.text);
      most = Math.max(most, tree.size);
    }
    assert.ok(most <= MAX_LEARNT && most > MAX_LEARNT / 2, `${most}`);
  });
});
