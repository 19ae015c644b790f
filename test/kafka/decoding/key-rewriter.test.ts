import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MAX_LEARNT, MAX_LEARNT_OF_RECORD } from '../../../src/kafka/decoding/key-tree.ts';
import { createRewriting, expected, LIMITS, LONGEST_KEY, rewritingProperty } from './random-records.ts';

describe('Rewriter', () => {
  it('comes to the text and the values that parsing comes to, or declines', () => {
    let good = 0;
    let rewritten = 0;
    const count = (isGood: boolean, isRewritten: boolean) => {
      if (isGood) good++;
      if (isRewritten) rewritten++;
    };
    fc.assert(rewritingProperty(count), { numRuns: 3000 });
    assert.ok(rewritten > good / 3, `only ${rewritten} of ${good} were rewritten`);
  });

  it('never throws on bytes of any kind', () => {
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

  it('rewrites the records of the load test, also pretty-printed, with optional keys left out and with other text', async () => {
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
    // Its keys are more than are learnt of one record.
    for (let i = 0; i < 8; i++) rewrite(recorded);
    for (const variant of variants)
      assert.deepEqual(rewrite(variant), expected(Buffer.from(variant), LIMITS) ?? variant);
  });

  for (const [what, json] of [
    ['white space anywhere but before a colon', ' {\n "a": 1 ,\t"bC": [ 1 , { } , [ ] ] }\r\n'],
    ['numbers that are printed in another way', '{"a":1.0,"bC":-0,"x":[1e3,0.0000001,12345678901234567890]}'],
    ['escapes that are not needed', '{"a":"\\u00e9\\/","bC":"\\ud83d\\ude00 \\ud83d","x":"\\u0001"}'],
    ['names that objects inherit', '{"constructor":"x","toString":1,"__typename":"Y"}'],
    ['keys in any script', '{"größe":1,"日本":2,"😀":3}'],
    ['one key at different places', '{"a":{"a":{"a":1}},"bC":{"a":{"a":7}}}'],
    ['values of all kinds where a path leads', '{"a":{"bC":true},"bC":[{"a":{"a":1}}],"__typename":null}'],
    ['an object that has no keys', '{}'],
  ] as const) {
    it(`rewrites ${what}`, () => {
      const { rewrite } = createRewriting();
      assert.deepEqual(rewrite(json), expected(Buffer.from(json), LIMITS));
    });
  }

  for (const [what, json] of [
    ['a key that is there twice', '{"a":1,"a":2}'],
    ['two keys with one name', '{"bC":1,"b_c":2}'],
    ['a number beyond a double', '{"a":[1e999]}'],
    ['__proto__', '{"a":{"__proto__":1}}'],
    ['keys that objects have first', '{"b":1,"12":2}'],
    ['keys whose names objects have first', '{"b":1,"$12":2}'],
    ['keys with escapes', '{"\\u0061":1}'],
    ['a key too long to be remembered', `{"${LONGEST_KEY}c":1}`],
    ['what is no object', '[{"a":1}]'],
    ['what has something behind it', '{"a":1}{}'],
    ['what is not JSON', '{"a":01}'],
    ['what is nested too deep', `{"a":${'['.repeat(64)}${']'.repeat(64)}}`],
    ['more than 256 KB', `{"a":"${'x'.repeat(256 * 1024)}"}`],
    ['a string without an end', '{"a":"\\'],
  ] as const) {
    it(`declines ${what}, and goes on with the next record`, () => {
      const { rewrite } = createRewriting();
      assert.equal(rewrite(json), undefined);
      assert.deepEqual(rewrite('{"aB":1}')?.text, '{"a_b":1}');
    });
  }

  it('takes objects of one place as different ones', () => {
    const json = '{"x":[{"bC":1},{"b_c":2},[{"bC":3}],{"bC":{"bC":4}}]}';
    const { rewrite } = createRewriting();
    assert.equal(rewrite(json)?.text, json.replaceAll('bC', 'b_c'));
  });

  it('has room for the largest text, whatever becomes of it', () => {
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

  it('follows as many levels as a record may have', () => {
    const limits = { ...LIMITS, maxDepth: 1000 };
    const { rewrite } = createRewriting(limits);
    const json = '{"a":'.repeat(999) + '{}' + '}'.repeat(999);
    // A key of each level is learnt, some in each record.
    for (let i = 0; i < 300; i++) rewrite(json);
    assert.equal(rewrite(json)?.text, json);
    assert.equal(rewrite(`{"a":${json}}`), undefined);
  });

  it('learns no more than so much of a record, and remembers no more than so much', () => {
    const { rewrite, places } = createRewriting();
    const flood = (from: number) => `{${Array.from({ length: 100_000 }, (_, i) => `"k${from + i}":0`).join()}}`;
    assert.equal(rewrite(flood(0).slice(0, 250_000) + '":0}'), undefined);
    assert.equal(places.size, MAX_LEARNT_OF_RECORD);
    let most = 0;
    for (let i = 0; i < MAX_LEARNT; i++) {
      const json = `{"keyOne":1,"x${i}":[],"y${i}":{"zA":${i}}}`;
      assert.equal(rewrite(json)?.text, expected(Buffer.from(json), LIMITS)?.text);
      most = Math.max(most, places.size);
    }
    assert.ok(most <= MAX_LEARNT && most > MAX_LEARNT / 2, `${most}`);
  });
});
