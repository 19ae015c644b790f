import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Cursors } from '../../../../src/gateway/fanout/resume/cursor.ts';

const number = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const position = fc.record({
  epoch: number,
  partition: fc.nat(),
  offset: number,
  entry: fc.oneof(
    fc.constant(''),
    fc.tuple(number, fc.nat()).map(([ms, n]) => `${ms}-${n}`),
    fc.stringMatching(/^[\w-]{1,64}$/),
  ),
});
const channel = fc.string({ unit: 'binary' });

describe('Cursors', () => {
  it('signs with the HMAC-SHA-256 of position and channel, for any secret', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), position, channel, (secret, at, name) => {
        const cursor = new Cursors(secret).sign(name, at);
        const signed = `${cursor.slice(0, -17)}\n${name}`;
        const mac = createHmac('sha256', Buffer.from(secret)).update(signed).digest('base64url');
        assert.equal(cursor.slice(-16), mac.slice(0, 16));
      }),
    );
  });

  it('reads a cursor signed for the channel on every pod with the secret', () => {
    fc.assert(
      fc.property(position, channel, (at, name) => {
        const cursor = new Cursors('secret').sign(name, at);
        assert.deepEqual(new Cursors('secret').read(name, cursor), { ...at });
        assert.match(cursor, /^[\w.-]{1,128}$/, 'small, and nothing that JSON would quote');
      }),
    );
  });

  it('reads no cursor of another channel or secret', () => {
    fc.assert(
      fc.property(position, channel, channel, (at, name, other) => {
        const cursor = new Cursors('secret').sign(name, at);
        if (name !== other) assert.equal(new Cursors('secret').read(other, cursor), undefined);
        assert.equal(new Cursors('other').read(name, cursor), undefined);
      }),
    );
  });

  it('reads no cursor with a changed character, and no invented one', () => {
    const cursors = new Cursors('secret');
    fc.assert(
      fc.property(
        position,
        channel,
        fc.nat(),
        fc.constantFrom(...'0123456789abczAZ.-_ '),
        (at, name, seed, character) => {
          const cursor = cursors.sign(name, at);
          const index = seed % cursor.length;
          const forged = cursor.slice(0, index) + character + cursor.slice(index + 1);
          if (forged !== cursor) assert.equal(cursors.read(name, forged), undefined);
        },
      ),
      { numRuns: 1000 },
    );
    const anything = fc.oneof(
      fc.anything(),
      fc.string(),
      position.map((at) => new Cursors('x').sign('a', at)),
    );
    fc.assert(fc.property(anything, (cursor) => assert.equal(cursors.read('a', cursor), undefined)));
  });

  it('does not confuse positions whose concatenated parts are equal', () => {
    const cursors = new Cursors('secret');
    const mac = cursors.sign('b', { epoch: 1, partition: 2, offset: 3, entry: '' }).slice(-16);
    for (const forged of [`1.2.3.\nb.${mac}`, `1.2.3.1.${mac}`, `1.2..${mac}`, mac]) {
      assert.equal(cursors.read('', forged), undefined);
    }
  });
});
