import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { frameLength, layOut, nextPrefix, nextRest, notedParts, stamp } from '../../src/fanout/frame.ts';

function framesOf(...parts: Buffer[]): Buffer {
  let length = 0;
  for (let i = 0; i < parts.length; i += 2) length += frameLength(parts[i]!.length + parts[i + 1]!.length);
  const target = Buffer.alloc(length + 1, 0xff);
  layOut(target, parts);
  assert.equal(target[length], 0xff, 'wrote behind its place');
  return target.subarray(0, length);
}

/** Of final, unmasked text frames, as RFC 6455 section 5.2 lays them out. */
function messagesOf(bytes: Buffer): string[] {
  const messages: string[] = [];
  for (let at = 0; at < bytes.length;) {
    assert.equal(bytes[at], 0x81);
    const short = bytes[at + 1]!;
    const [length, start] =
      short < 126
        ? [short, at + 2]
        : short === 126
          ? [bytes.readUInt16BE(at + 2), at + 4]
          : [Number(bytes.readBigUInt64BE(at + 2)), at + 10];
    messages.push(bytes.toString('utf8', start, start + length));
    at = start + length;
  }
  return messages;
}

describe('the frame of a next message', () => {
  it('has a cursor and what is said to one subscription in its extensions', () => {
    const payload = { data: { a: 1 } };
    for (const cursor of [undefined, 'abc']) {
      const rest = nextRest([JSON.stringify(payload)], cursor);
      const shared = cursor === undefined ? {} : { extensions: { cursor } };
      assert.deepEqual(JSON.parse(messagesOf(framesOf(nextPrefix('1'), rest))[0]!), {
        id: '1',
        type: 'next',
        payload: { ...payload, ...shared },
      });
      const noted = notedParts(nextPrefix('1'), rest, '"gap":true,"resumed":false');
      assert.deepEqual(JSON.parse(messagesOf(framesOf(...noted))[0]!), {
        id: '1',
        type: 'next',
        payload: { ...payload, extensions: { gap: true, resumed: false, ...shared.extensions } },
      });
    }
  });

  it('holds the text that JSON.stringify makes of the whole message, for any id and payload', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.jsonValue(), (id, payload) => {
        const frame = framesOf(nextPrefix(id), nextRest([JSON.stringify(payload)]));
        // A lone surrogate in a payload has no UTF-8; JSON text escapes it, as in the id.
        assert.deepEqual(messagesOf(frame), [JSON.stringify({ id, type: 'next', payload })]);
      }),
    );
  });

  it('keeps quotes, escapes and lone surrogates in ids apart from the message', () => {
    for (const id of ['"', '\\', '","type":"complete"', '\u2028', '\ud800', '\0', '💬'.repeat(30)]) {
      const [message] = messagesOf(framesOf(nextPrefix(id), nextRest(['{"data":1}'])));
      assert.deepEqual(JSON.parse(message!), { id, type: 'next', payload: { data: 1 } });
    }
  });

  it('has a header of 2, 4 or 10 bytes, as its length asks for', () => {
    for (const [length, header] of [
      [0, 2],
      [125, 2],
      [126, 4],
      [65_535, 4],
      [65_536, 10],
      [200_000, 10],
    ] as const) {
      // prettier-ignore
      const frame = framesOf(Buffer.alloc(0), Buffer.alloc(length, 'x'));
      assert.equal(frame.length, header + length);
      assert.deepEqual(messagesOf(frame), ['x'.repeat(length)]);
    }
  });

  it('stands behind others in one piece of memory', () => {
    const frames = framesOf(...['a', 'b'].flatMap((id) => [nextPrefix(id), nextRest([`"${id}"`])]));
    assert.deepEqual(messagesOf(frames), [
      '{"id":"a","type":"next","payload":"a"}',
      '{"id":"b","type":"next","payload":"b"}',
    ]);
  });

  it('becomes that of another id of the same length by writing the id alone', () => {
    const ids = fc.stringMatching(/^[a-z]{36}$/);
    const results = fc.array(
      fc.integer({ min: 0, max: 70_000 }).map((length) => nextRest(['x'.repeat(length)])),
      { minLength: 1, maxLength: 4 },
    );
    fc.assert(
      fc.property(ids, ids, results, (one, other, rests) => {
        const of = (id: string): Buffer[] => rests.flatMap((rest) => [nextPrefix(id), rest]);
        const frames = framesOf(...of(one));
        stamp(frames, of(other));
        assert.ok(frames.equals(framesOf(...of(other))));
      }),
    );
  });
});
