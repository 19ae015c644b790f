import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import { JsonScanner } from '../../../src/base/json/scanner.ts';

const scanner = new JsonScanner();

/** Whether the whole text was accepted. */
function accepts(text: string, levels = 64): boolean {
  assert.ok(scanner.load(Buffer.from(text)));
  return scanner.endOfValue(0, levels) === Buffer.byteLength(text);
}

/** Of JSON texts, most of them as JSON.stringify would write them. */
function randomText(random: () => number, levels: number): string {
  const below = (n: number) => Math.floor(random() * n);
  const kind = below(levels > 0 ? 8 : 6);
  const several = (make: () => string) => Array.from({ length: below(4) }, make).join(',');
  if (kind === 0) return ['true', 'false', 'null'][below(3)]!;
  if (kind === 1) return JSON.stringify(Math.round((random() - 0.5) * 10 ** below(18)));
  if (kind === 2) return ((random() - 0.5) * 10 ** (below(24) - 12)).toPrecision(1 + below(17));
  if (kind === 3)
    return `${below(3) === 0 ? '-' : ''}${below(20)}${['', '.0', '.5', '.05', '.50', 'e2', '.0000001', '.00000001'][below(8)]!}`;
  if (kind < 6) {
    const parts = ['a', 'bcd', ' ', '"', '\\', '\n', '\u0001', 'é', '€', '😀', '\u007f', '\u2028', '/'];
    return JSON.stringify(Array.from({ length: below(9) }, () => parts[below(parts.length)]).join(''));
  }
  if (kind === 6) return `[${several(() => randomText(random, levels - 1))}]`;
  let key = 0;
  return `{${several(() => `"k${key++}":${randomText(random, levels - 1)}`)}}`;
}

function generator(seed: number): () => number {
  return () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 32;
  };
}

describe('JsonScanner', () => {
  it('accepts exactly what JSON.stringify prints', () => {
    const random = generator(1);
    for (let i = 0; i < 20_000; i++) {
      const text = randomText(random, 3);
      assert.equal(accepts(text), JSON.stringify(JSON.parse(text)) === text, text);
    }
  });

  it('refuses text that is not JSON, wherever a valid text was changed', () => {
    const random = generator(2);
    const characters = ['"', '\\', '{', '}', '[', ']', ',', ':', '0', '-', '.', 'e', '\n', '\u0000', 'x', ' '];
    for (let i = 0; i < 20_000; i++) {
      const text = randomText(random, 3);
      const at = Math.floor(random() * text.length);
      const spoilt = text.slice(0, at) + characters[Math.floor(random() * characters.length)]! + text.slice(at + 1);
      if (accepts(spoilt)) assert.doesNotThrow(() => void JSON.parse(spoilt), spoilt);
    }
  });

  it('refuses a text that is truncated anywhere', () => {
    const text = '{"a":[1,-2.5,true,false,null,"x\\n\\"é"],"b":{}}';
    assert.ok(accepts(text));
    const bytes = Buffer.from(text);
    for (let length = 0; length < bytes.length; length++) {
      scanner.load(bytes.subarray(0, length));
      assert.equal(scanner.endOfValue(0, 9), -1, text.slice(0, length));
    }
  });

  it('reads nothing of the previous text', () => {
    scanner.load(Buffer.from('[1,2,3,4,5,6,7,8,9]'));
    scanner.load(Buffer.from('[1,2'));
    assert.equal(scanner.endOfValue(0, 9), -1);
  });

  it('accepts white space between tokens', () => {
    assert.ok(accepts('{ "a" : [ 1 ,\t2 ] ,\r\n"b" : { } }'));
    assert.ok(accepts('[ ]'));
  });

  for (const text of [
    '0',
    '-1',
    '7',
    '123456789012345',
    '0.5',
    '-0.000001',
    '0.30000000000000004',
    '1e+21',
    '1e-7',
    '-2.5e-9',
    '9007199254740991',
    '"\\u0001\\ud800"',
    '1.25',
    '99999999999999.5',
    'true',
    '""',
    '"\\n\\\\"',
  ]) {
    it(`accepts ${text}`, () => assert.ok(accepts(text)));
  }

  for (const text of [
    '-0',
    '01',
    '1.0',
    '1.50',
    '1e21',
    '1E3',
    '0.0000001',
    '-',
    '1.',
    '.5',
    '+1',
    'tru',
    'nulL',
    '"\\u0041"',
    '"\\/"',
    '"\\x"',
    '"\t"',
    '"a',
    '[1,]',
    '[,1]',
    '{"a"}',
    '{"a":}',
    '{a:1}',
    '{"a":1,}',
    '[1 2]',
    '',
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.ok(!accepts(text)));
  }

  it('counts levels of nesting', () => {
    assert.ok(accepts('[[1]]', 2));
    assert.ok(!accepts('[[1]]', 1));
    assert.ok(!accepts('{"a":[]}', 1));
  });

  it('refuses a text that is too large or not UTF-8', () => {
    assert.ok(!scanner.load(Buffer.alloc(256 * 1024 + 1, 0x20)));
    assert.ok(!scanner.load(Buffer.from([0x22, 0xff, 0x22])));
  });
});
