import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { frameLength, nextPrefix, nextRest, notedParts, writeFrame } from '../../src/fanout/frame.ts';

function frameOf(prefix: Buffer, rest: Buffer): Buffer {
  const frame = Buffer.alloc(frameLength(prefix.length + rest.length) + 2, 0xff);
  const end = writeFrame(frame, 1, prefix, rest);
  assert.equal(end, frame.length - 1);
  assert.deepEqual([frame[0], frame[end]], [0xff, 0xff], 'wrote beside its place');
  return frame.subarray(1, end);
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
      const rest = nextRest(JSON.stringify(payload), cursor);
      const shared = cursor === undefined ? {} : { extensions: { cursor } };
      assert.deepEqual(JSON.parse(messagesOf(frameOf(nextPrefix('1'), rest))[0]!), {
        id: '1',
        type: 'next',
        payload: { ...payload, ...shared },
      });
      const noted = notedParts(nextPrefix('1'), rest, '"gap":true,"resumed":false');
      assert.deepEqual(JSON.parse(messagesOf(frameOf(...noted))[0]!), {
        id: '1',
        type: 'next',
        payload: { ...payload, extensions: { gap: true, resumed: false, ...shared.extensions } },
      });
    }
  });

  it('holds the text that JSON.stringify makes of the whole message, for any id and payload', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.jsonValue(), (id, payload) => {
        const frame = frameOf(nextPrefix(id), nextRest(JSON.stringify(payload)));
        // A lone surrogate in a payload has no UTF-8; JSON text escapes it, as in the id.
        assert.deepEqual(messagesOf(frame), [JSON.stringify({ id, type: 'next', payload })]);
      }),
    );
  });

  it('keeps quotes, escapes and lone surrogates in ids apart from the message', () => {
    for (const id of ['"', '\\', '","type":"complete"', '\u2028', '\ud800', '\0', '💬'.repeat(30)]) {
      const [message] = messagesOf(frameOf(nextPrefix(id), nextRest('{"data":1}')));
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
      const frame = frameOf(Buffer.alloc(0), Buffer.alloc(length, 'x'));
      assert.equal(frame.length, header + length);
      assert.deepEqual(messagesOf(frame), ['x'.repeat(length)]);
    }
  });

  it('stands beside others in one piece of memory', () => {
    const frames = ['a', 'b'].map((id) => frameOf(nextPrefix(id), nextRest('1')));
    assert.equal(messagesOf(Buffer.concat(frames)).length, 2);
  });
});
