import assert from 'node:assert/strict';
import { it } from 'node:test';
import { printed } from '../../../loadtest/capacity/figures.ts';

it('a figure is printed with two digits or all before the point, and never with an exponent', () => {
  assert.deepEqual([0.054, 4.46, 31.2, 99.4, 99.5, 100, 16_170.6].map(printed), [
    ...['0.054', '4.5', '31', '99', '100', '100', '16,171'],
  ]);
});
