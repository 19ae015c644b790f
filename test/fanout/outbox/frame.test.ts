import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  areAlike,
  cursorLead,
  frameLength,
  layOut,
  nextPrefix,
  nextRest,
  notedRest,
  Rest,
  stamp,
} from '../../../src/fanout/outbox/frame.ts';
import type { Message } from '../../../src/fanout/outbox/frame.ts';

/** A result in pieces, the first of which is one character. */
function restFor(json: string, cursor?: string): Rest {
  const middle = Math.floor(json.length / 2);
  const pieces = [json.slice(0, 1), json.slice(1, middle), json.slice(Math.max(1, middle))];
  return nextRest(
    pieces.map((piece) => Buffer.from(piece)),
    cursor === undefined ? undefined : cursorLead(cursor),
  );
}

function framesOf(...messages: Message[]): Buffer {
  const length = messages.reduce((sum, { prefix, rest }) => sum + frameLength(prefix.length + rest.length), 0);
  const target = Buffer.alloc(length + 1, 0xff);
  layOut(target, messages);
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
      const rest = restFor(JSON.stringify(payload), cursor);
      const shared = cursor === undefined ? {} : { extensions: { cursor } };
      assert.deepEqual(JSON.parse(messagesOf(framesOf({ prefix: nextPrefix('1'), rest }))[0]!), {
        id: '1',
        type: 'next',
        payload: { ...payload, ...shared },
      });
      const noted = notedRest(rest, '"gap":true,"resumed":false');
      assert.deepEqual(JSON.parse(messagesOf(framesOf({ prefix: nextPrefix('1'), rest: noted }))[0]!), {
        id: '1',
        type: 'next',
        payload: { ...payload, extensions: { gap: true, resumed: false, ...shared.extensions } },
      });
    }
  });

  it('holds the text that JSON.stringify makes of the whole message, for any id and payload', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.jsonValue(), (id, payload) => {
        const frame = framesOf({ prefix: nextPrefix(id), rest: nextRest([Buffer.from(JSON.stringify(payload))]) });
        // A lone surrogate in a payload has no UTF-8; JSON text escapes it, as in the id.
        assert.deepEqual(messagesOf(frame), [JSON.stringify({ id, type: 'next', payload })]);
      }),
    );
  });

  it('keeps quotes, escapes and lone surrogates in ids apart from the message', () => {
    for (const id of ['"', '\\', '","type":"complete"', '\u2028', '\ud800', '\0', '💬'.repeat(30)]) {
      const [message] = messagesOf(framesOf({ prefix: nextPrefix(id), rest: restFor('{"data":1}') }));
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
      const frame = framesOf({ prefix: Buffer.alloc(0), rest: new Rest([Buffer.alloc(length, 'x')]) });
      assert.equal(frame.length, header + length);
      assert.deepEqual(messagesOf(frame), ['x'.repeat(length)]);
    }
  });

  it('stands behind others in one piece of memory', () => {
    const frames = framesOf(...['a', 'b'].map((id) => ({ prefix: nextPrefix(id), rest: restFor(`"${id}"`) })));
    assert.deepEqual(messagesOf(frames), [
      '{"id":"a","type":"next","payload":"a"}',
      '{"id":"b","type":"next","payload":"b"}',
    ]);
  });

  it('becomes that of another message with parts of the same lengths by writing what differs', () => {
    const [shared, own] = ['x'.repeat(70_000), 'y'.repeat(70_000)].map((text) => Buffer.from(text)) as [Buffer, Buffer];
    const piece = fc.tuple(fc.integer({ min: 0, max: 70_000 }), fc.boolean());
    const results = fc.array(fc.array(piece, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 });
    const ids = fc.stringMatching(/^[a-z]{36}$/);
    fc.assert(
      fc.property(ids, ids, results, (one, other, lengths) => {
        const pieces = lengths.map((of) => of.map(([length]) => shared.subarray(0, length)));
        const before = pieces.map((of) => ({ prefix: nextPrefix(one), rest: new Rest(of) }));
        const after = pieces.map((of, i) => ({
          prefix: nextPrefix(other),
          rest: new Rest(of.map((same, j) => (lengths[i]![j]![1] ? same : own.subarray(0, same.length)))),
        }));
        assert.ok(areAlike(after, before));
        const frames = framesOf(...before);
        stamp(frames, after, before);
        assert.ok(frames.equals(framesOf(...after)));
      }),
      { numRuns: 50 },
    );
  });

  it('is of one piece where it has to wait, which is the same for all and is no copy of one', () => {
    const [one, two] = [['ab'], ['a', 'b']].map((texts) => new Rest(texts.map((text) => Buffer.from(text))));
    assert.equal(one!.whole, one);
    assert.equal(two!.whole, two!.whole);
    assert.deepEqual([two!.whole.pieces, two!.whole.length], [[Buffer.from('ab')], 2]);
  });

  it('is not alike where a prefix or a piece has another length', () => {
    const of = (id: string, ...pieces: string[]) => [
      { prefix: nextPrefix(id), rest: new Rest(pieces.map((text) => Buffer.from(text))) },
    ];
    assert.ok(areAlike(of('a', 'bc', 'd'), of('b', 'xy', 'z')));
    assert.ok(!areAlike(of('a', 'bc', 'd'), of('bb', 'xy', 'z')));
    assert.ok(!areAlike(of('a', 'bc', 'd'), of('b', 'x', 'yz')));
    assert.ok(!areAlike(of('a', 'bc', 'd'), of('b', 'xyz')));
    assert.ok(!areAlike(of('a', 'b'), [...of('a', 'b'), ...of('a', 'b')]));
  });
});
