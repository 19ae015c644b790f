import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Fifo } from '../../src/base/fifo.ts';

describe('Fifo', () => {
  it('gives the items that an array gives, however many wait', () => {
    const steps = fc.array(fc.tuple(fc.nat(200), fc.nat(200)), { maxLength: 20 });
    fc.assert(
      fc.property(steps, (counts) => {
        const fifo = new Fifo<number>();
        const array: number[] = [];
        let added = 0;
        for (const [adds, takes] of counts) {
          for (let i = 0; i < adds; i++) {
            fifo.add(++added);
            array.push(added);
          }
          for (let i = 0; i < takes && !fifo.isEmpty; i++) {
            assert.equal(fifo.first, array[0]);
            assert.equal(fifo.take(), array.shift());
          }
          assert.deepEqual([fifo.length, fifo.first], [array.length, array[0]]);
        }
      }),
    );
  });
});
