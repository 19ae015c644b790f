import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseMessage } from '../../src/bus/coordinates.ts';

describe('parseMessage', () => {
  it('takes the header off, and nothing of the payload', () => {
    const number = fc.nat({ max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(number, number, number, number, fc.string({ unit: 'binary' }), (p, o, t, e, payload) => {
        assert.deepEqual(parseMessage(`@${p} ${o} ${t} ${e}\n${payload}`), {
          payload,
          coordinates: { partition: p, offset: o, timestamp: t, epoch: e },
        });
      }),
    );
  });

  it('leaves a text without a whole header as it is', () => {
    for (const payload of [
      '',
      '@',
      '{"a":"@0 1 2 3\\n"}',
      '@0 1 2\n{}',
      '@0 1 2 3{}',
      ' @0 1 2 3\n{}',
      '@a 1 2 3\n{}',
    ]) {
      assert.deepEqual(parseMessage(payload), { payload, coordinates: undefined });
    }
  });
});
