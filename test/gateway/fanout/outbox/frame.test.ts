import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  haveEqualLayout,
  cursorSuffix,
  resultSuffix,
  frameLength,
  writeFrames,
  resultBytesOf,
  withNotes,
  ResultBytes,
  overwrite,
} from '../../../../src/gateway/fanout/outbox/frame.ts';
import type { Message } from '../../../../src/gateway/fanout/outbox/frame.ts';
import { TRANSPORT_WS } from '../../../../src/gateway/websocket/transport-ws.ts';

const nextPrefix = (id: string) => TRANSPORT_WS.prefixOf(id);

/** A result in three pieces. The last one is the suffix. */
function resultFor(json: string, cursor?: string): ResultBytes {
  const middle = Math.floor(json.length / 2);
  const pieces = [json.slice(0, middle), json.slice(middle, -1)];
  return resultBytesOf(
    pieces.map((piece) => Buffer.from(piece)),
    cursor === undefined ? undefined : cursorSuffix(cursor),
  );
}

function framesOf(...messages: Message[]): Buffer {
  const length = messages.reduce((sum, { prefix, result }) => sum + frameLength(prefix.length + result.length), 0);
  const target = Buffer.alloc(length + 1, 0xff);
  writeFrames(target, messages);
  assert.equal(target[length], 0xff, 'wrote past its end');
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
  it('merges the cursor of the event and the notes of one subscription into extensions', () => {
    const payload = { data: { a: 1 } };
    for (const cursor of [undefined, 'abc']) {
      const result = resultFor(JSON.stringify(payload), cursor);
      const shared = cursor === undefined ? {} : { extensions: { cursor } };
      assert.deepEqual(JSON.parse(messagesOf(framesOf({ prefix: nextPrefix('1'), result }))[0]!), {
        id: '1',
        type: 'next',
        payload: { ...payload, ...shared },
      });
      const noted = withNotes(result, '"gap":true,"resumed":false');
      assert.deepEqual(JSON.parse(messagesOf(framesOf({ prefix: nextPrefix('1'), result: noted }))[0]!), {
        id: '1',
        type: 'next',
        payload: { ...payload, extensions: { gap: true, resumed: false, ...shared.extensions } },
      });
    }
  });

  it('has data before extensions', () => {
    const notes = '"gap":true';
    const result = withNotes(resultFor('{"data":{"a":1}}', 'abc'), notes);
    assert.deepEqual(messagesOf(framesOf({ prefix: nextPrefix('1'), result })), [
      '{"id":"1","type":"next","payload":{"data":{"a":1},"extensions":{"gap":true,"cursor":"abc"}}}',
    ]);
  });

  it('replaces members of its end by notes of the same names', () => {
    const extensionsOf = (cursor: string | undefined, skipped: number, notes: string) => {
      const result = withNotes(resultBytesOf([Buffer.from('{"data":{}')], resultSuffix(cursor, skipped)), notes);
      const text = messagesOf(framesOf({ prefix: nextPrefix('1'), result }))[0]!;
      return (JSON.parse(text) as { payload: { extensions: object } }).payload.extensions;
    };
    assert.deepEqual(extensionsOf('a.b-_', 2, '"skipped":5'), { skipped: 5, cursor: 'a.b-_' });
    assert.deepEqual(extensionsOf('a', 2, '"gap":true,"cursor":"b"'), { gap: true, cursor: 'b', skipped: 2 });
    assert.deepEqual(extensionsOf(undefined, 0, '"skipped":1'), { skipped: 1 });
    assert.deepEqual(extensionsOf('a', 3, '"gap":true'), { gap: true, skipped: 3, cursor: 'a' });
  });

  it('equals JSON.stringify of the whole message for any id and payload', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.jsonValue(), (id, data) => {
        const payload = { data };
        const frame = framesOf({
          prefix: nextPrefix(id),
          result: resultBytesOf([Buffer.from(JSON.stringify(payload).slice(0, -1))]),
        });
        // UTF-8 cannot encode a lone surrogate: JSON text escapes it, as in the id.
        assert.deepEqual(messagesOf(frame), [JSON.stringify({ id, type: 'next', payload })]);
      }),
    );
  });

  it('keeps no more memory for the prefix of a subscription than its bytes', () => {
    const prefix = nextPrefix('ü');
    assert.equal(prefix.buffer.byteLength, prefix.length);
  });

  it('escapes quotes, backslashes and lone surrogates in ids', () => {
    for (const id of ['"', '\\', '","type":"complete"', '\u2028', '\ud800', '\0', '💬'.repeat(30)]) {
      const [message] = messagesOf(framesOf({ prefix: nextPrefix(id), result: resultFor('{"data":1}') }));
      assert.deepEqual(JSON.parse(message!), { id, type: 'next', payload: { data: 1 } });
    }
  });

  it('has a header of 2, 4 or 10 bytes, depending on its length', () => {
    for (const [length, header] of [
      [0, 2],
      [125, 2],
      [126, 4],
      [65_535, 4],
      [65_536, 10],
      [200_000, 10],
    ] as const) {
      // prettier-ignore
      const frame = framesOf({ prefix: Buffer.alloc(0), result: new ResultBytes([Buffer.alloc(length, 'x')]) });
      assert.equal(frame.length, header + length);
      assert.deepEqual(messagesOf(frame), ['x'.repeat(length)]);
    }
  });

  it('follows other frames in one buffer', () => {
    const frames = framesOf(
      ...['a', 'b'].map((id) => ({ prefix: nextPrefix(id), result: resultFor(`{"data":"${id}"}`) })),
    );
    assert.deepEqual(messagesOf(frames), [
      '{"id":"a","type":"next","payload":{"data":"a"}}',
      '{"id":"b","type":"next","payload":{"data":"b"}}',
    ]);
  });

  it('becomes the frame of a message of equal layout when only the differing bytes are overwritten', () => {
    const [shared, own] = ['x'.repeat(70_000), 'y'.repeat(70_000)].map((text) => Buffer.from(text)) as [Buffer, Buffer];
    const piece = fc.tuple(fc.integer({ min: 0, max: 70_000 }), fc.boolean());
    const results = fc.array(fc.array(piece, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 });
    const ids = fc.stringMatching(/^[a-z]{36}$/);
    fc.assert(
      fc.property(ids, ids, results, (one, other, lengths) => {
        const pieces = lengths.map((of) => of.map(([length]) => shared.subarray(0, length)));
        const before = pieces.map((of) => ({ prefix: nextPrefix(one), result: new ResultBytes(of) }));
        const after = pieces.map((of, i) => ({
          prefix: nextPrefix(other),
          result: new ResultBytes(of.map((same, j) => (lengths[i]![j]![1] ? same : own.subarray(0, same.length)))),
        }));
        assert.ok(haveEqualLayout(after, before));
        const frames = framesOf(...before);
        overwrite(frames, after, before);
        assert.ok(frames.equals(framesOf(...after)));
      }),
      { numRuns: 50 },
    );
  });

  it('joins the pieces of a waiting result once for all subscriptions, and copies no single piece', () => {
    const [one, two] = [['ab'], ['a', 'b']].map((texts) => new ResultBytes(texts.map((text) => Buffer.from(text))));
    assert.equal(one!.whole, one);
    assert.equal(two!.whole, two!.whole);
    assert.deepEqual([two!.whole.pieces, two!.whole.length], [[Buffer.from('ab')], 2]);
  });

  it('differs in layout if a prefix or a piece has another length', () => {
    const of = (id: string, ...pieces: string[]) => [
      { prefix: nextPrefix(id), result: new ResultBytes(pieces.map((text) => Buffer.from(text))) },
    ];
    assert.ok(haveEqualLayout(of('a', 'bc', 'd'), of('b', 'xy', 'z')));
    assert.ok(!haveEqualLayout(of('a', 'bc', 'd'), of('bb', 'xy', 'z')));
    assert.ok(!haveEqualLayout(of('a', 'bc', 'd'), of('b', 'x', 'yz')));
    assert.ok(!haveEqualLayout(of('a', 'bc', 'd'), of('b', 'xyz')));
    assert.ok(!haveEqualLayout(of('a', 'b'), [...of('a', 'b'), ...of('a', 'b')]));
    const compressed = { prefix: nextPrefix('a'), result: new ResultBytes([Buffer.from('bc')], undefined, true) };
    assert.ok(!haveEqualLayout(of('a', 'bc'), [compressed]));
  });
});
