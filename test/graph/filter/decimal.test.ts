import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { compareDecimals, isDecimal } from '../../../src/graph/filter/decimal.ts';

const sign = (order: number | undefined) => order && Math.sign(order);

describe('compareDecimals', () => {
  it('compares whole numbers of any length exactly', () => {
    const whole = fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n });
    fc.assert(
      fc.property(whole, whole, fc.nat({ max: 3 }), (a, b, zeros) => {
        const padded = a < 0n ? `-${'0'.repeat(zeros)}${-a}` : `${'0'.repeat(zeros)}${a}`;
        const expected = a === b ? 0 : a < b ? -1 : 1;
        assert.equal(sign(compareDecimals(padded, String(b))), expected);
      }),
    );
  });

  it('compares what JavaScript prints of doubles as the doubles compare', () => {
    const double = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(double, double, (a, b) => {
        const expected = a === b ? 0 : a < b ? -1 : 1;
        assert.equal(sign(compareDecimals(String(a), String(b))), expected);
      }),
      { numRuns: 1000 },
    );
  });

  it('compares decimals with different numbers of zeros', () => {
    for (const [a, b, expected] of [
      ['1.50', '1.5', 0],
      ['0', '-0.000', 0],
      ['-7.0', '-7', 0],
      ['0.1', '0.10000000000000000001', -1],
      ['-2.5', '-2.4', -1],
      ['1e3', '1000', 0],
      ['12.5e-1', '1.25', 0],
      ['0.001', '1e-3', 0],
    ] as const) {
      assert.equal(sign(compareDecimals(a, b)), expected, `${a} and ${b}`);
      assert.equal(sign(compareDecimals(b, a)), expected === 0 ? 0 : -expected, `${b} and ${a}`);
    }
  });

  it('compares nothing else: no words, no signs before, no long texts and no large exponents', () => {
    for (const text of ['', ' 1', '+1', '1.', '.5', '0x10', 'NaN', 'Infinity', '1_000', '1e1000', '9'.repeat(1101)]) {
      assert.equal(compareDecimals(text, '1'), undefined, text);
      assert.equal(compareDecimals('1', text), undefined, text);
      assert.equal(isDecimal(text), false, text);
    }
  });
});
