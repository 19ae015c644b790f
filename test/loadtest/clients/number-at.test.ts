import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NumberAt } from '../../../loadtest/clients/number-at.ts';

const MESSAGE = Buffer.from('{"id":"x","version":2000417,"status":"OPEN"}');
const TO_END = MESSAGE.length - MESSAGE.indexOf('2000417');

function readInChunks(number: NumberAt, message: Buffer, size: number): void {
  for (let i = 0; i < message.length; i += size) number.read(message.subarray(i, i + size), message.length - i);
}

describe('NumberAt', () => {
  for (const size of [1, 2, 5, 7, 23, 1000]) {
    it(`reads the number of each message in chunks of ${size} bytes`, () => {
      const number = new NumberAt(TO_END);
      for (const expected of [2_000_417, 2_000_417]) {
        readInChunks(number, MESSAGE, size);
        assert.equal(number.take(), expected);
      }
    });
  }

  it('returns undefined for an incomplete message and reads the next one', () => {
    const number = new NumberAt(TO_END);
    number.read(MESSAGE.subarray(-TO_END + 3), TO_END - 3);
    assert.equal(number.take(), undefined);
    readInChunks(number, MESSAGE, 8);
    assert.equal(number.take(), 2_000_417);
  });
});
