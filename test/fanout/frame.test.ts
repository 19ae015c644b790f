import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { nextMessage, nextPrefix } from '../../src/fanout/frame.ts';

describe('nextMessage', () => {
  it('is the text that JSON.stringify makes of the whole message, for any id and payload', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.jsonValue(), (id, payload) => {
        assert.equal(
          nextMessage(nextPrefix(id), JSON.stringify(payload)),
          JSON.stringify({ id, type: 'next', payload }),
        );
      }),
    );
  });

  it('keeps quotes, escapes and lone surrogates in ids apart from the message', () => {
    for (const id of ['"', '\\', '","type":"complete"', '\u2028', '\ud800', '\0']) {
      assert.deepEqual(JSON.parse(nextMessage(nextPrefix(id), '{"data":1}')), {
        id,
        type: 'next',
        payload: { data: 1 },
      });
    }
  });
});
