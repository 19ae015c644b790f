import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { exactNumber, numberText, parseExactly, withBigInts } from '../../../src/base/json/exact-numbers.ts';

describe('exactNumber', () => {
  for (const text of [
    '0',
    '-0',
    '7',
    '1.0',
    '1.50',
    '1e3',
    '1E+3',
    '9007199254740992',
    '0.1',
    '5e-324',
    '1e21',
    '100000000000000000000',
    '0.10000000000000001',
    '2.3810307389689286E17',
    '1e23',
    '0.1000000000000000055511151231257827',
  ]) {
    it(`returns ${text} as a number`, () => assert.equal(exactNumber(text), Number(text)));
  }
  for (const text of [
    '9007199254740993',
    '-9007199254740993',
    '9007199254740992.9',
    '99.999999999999999999',
    '1.00000000000000001',
    '1152921504606846976',
    `1${'0'.repeat(400)}1e-200`,
    // JavaScript would print them with an exponent, or not at all.
    '1000000000000000000000',
    '-10000000000000000000000',
    `1${'0'.repeat(400)}`,
  ]) {
    it(`returns ${text.slice(0, 30)} as its text`, () => assert.equal(exactNumber(text), text));
  }
  for (const text of [
    '1.5e+0005',
    '12e-0001',
    '1.2345678901234e-320',
    `1.${'0'.repeat(500)}`,
    '1e0000000000000000003',
  ]) {
    it(`returns ${text.slice(0, 30)} as a number, in whatever form`, () =>
      assert.equal(exactNumber(text), Number(text)));
  }

  for (const [text, digits] of [
    ['9007199254740993.0', '9007199254740993'],
    ['-9.007199254740993e15', '-9007199254740993'],
    ['900719925474099300e-2', '9007199254740993'],
    ['2.38103073896892864E17', '238103073896892864'],
    ['1234567890123456789e3', '1234567890123456789000'],
  ] as const) {
    it(`returns ${text} as its digits`, () => assert.equal(exactNumber(text), digits));
  }

  it('returns whole numbers of different values as different ones', () => {
    assert.notEqual(String(exactNumber('1234567890123456768.0')), String(exactNumber('1234567890123456800')));
  });

  it('returns a number beyond a double as infinity or 0', () => {
    assert.deepEqual(['1e400', '-1e400', '1e-400'].map(exactNumber), [Infinity, -Infinity, 0]);
  });

  it('returns each number that JavaScript prints', () => {
    fc.assert(
      fc.property(
        fc.double({ noNaN: true }),
        (number) =>
          exactNumber(JSON.stringify(number) ?? '0') === number || !Number.isFinite(number) || Object.is(number, -0),
      ),
    );
  });

  it('never returns the same for two integers', () => {
    const integer = fc.bigInt({ min: 2n ** 53n - 4n, max: 2n ** 64n });
    fc.assert(
      fc.property(integer, fc.bigInt({ min: 1n, max: 4n }), (one, distance) => {
        assert.equal(String(exactNumber(`${one}`)), `${one}`);
        assert.notEqual(String(exactNumber(`${one}`)), String(exactNumber(`${one + distance}`)));
      }),
    );
  });
});

describe('numberText', () => {
  it('returns what JSON.stringify prints, but digits of each integer', () => {
    for (const [number, text] of [
      [0, '0'],
      [-0, '0'],
      [1.5, '1.5'],
      [5e-324, '5e-324'],
      [2 ** 53, '9007199254740992'],
      [1e21, '1000000000000000000000'],
      [-1.5e22, '-15000000000000000000000'],
      [Number.MAX_VALUE, `17976931348623157${'0'.repeat(292)}`],
    ] as const)
      assert.equal(numberText(number), text);
  });
});

describe('withBigInts', () => {
  it('prints a BigInt as the digits of a number are read', () => {
    const value = [7n, -0n, 2n ** 53n, 2n ** 53n + 1n, 10n ** 22n, { a: -(2n ** 63n) }, 'x', null, 1.5];
    const text = JSON.stringify(value, withBigInts);
    assert.equal(
      text,
      '[7,0,9007199254740992,"9007199254740993","10000000000000000000000",{"a":"-9223372036854775808"},"x",null,1.5]',
    );
  });
});

describe('parseExactly', () => {
  it('parses as JSON.parse, but for numbers whose digits a double loses', () => {
    const text =
      '{"a": 9007199254740993, "b": [-9007199254740993, 7], "c": "9007199254740993", "d": {"e": 1.00000000000000001e0}}';
    assert.deepEqual(parseExactly(text), {
      a: '9007199254740993',
      b: ['-9007199254740993', 7],
      c: '9007199254740993',
      d: { e: '1.00000000000000001e0' },
    });
  });

  it('finds such a number wherever it is', () => {
    for (let at = 0; at < 40; at++) {
      const text = `{"${'k'.repeat(at)}":9007199254740993}`;
      assert.deepEqual(parseExactly(text), { ['k'.repeat(at)]: '9007199254740993' });
    }
  });

  it('changes no string', () => {
    const texts = [
      '9007199254740993',
      '\\"9007199254740993',
      '\\',
      '\\\\',
      '{"a":9007199254740993}',
      ': 9007199254740993,',
    ];
    assert.deepEqual(parseExactly(JSON.stringify(texts)), texts);
    assert.deepEqual(parseExactly(`{${JSON.stringify(texts[4])}: 1}`), { [texts[4]!]: 1 });
  });

  it('throws where JSON.parse does', () => {
    for (const text of [
      '{9007199254740993: 1}',
      '09007199254740993',
      '9007199254740993.',
      '[9007199254740993',
      '-',
      '"9007199254740993',
    ])
      assert.throws(() => parseExactly(text), SyntaxError, text);
  });

  it('returns what JSON.parse returns for each value that JavaScript prints', () => {
    fc.assert(fc.property(fc.json(), (text) => assert.deepEqual(parseExactly(text), JSON.parse(text))));
  });

  it('takes linear time, and texts of any length', () => {
    const escapes = `["${'\\n'.repeat(4_000_000)}",9007199254740993]`;
    assert.equal((parseExactly(escapes) as unknown[])[1], '9007199254740993');
    const many = `[${'9007199254740993,'.repeat(20_000)}0.${'0'.repeat(100_000)}1, "${'\\\\'.repeat(100_000)}"]`;
    assert.equal((parseExactly(many) as unknown[]).length, 20_002);
  });
});
