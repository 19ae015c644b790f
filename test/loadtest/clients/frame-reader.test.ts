import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FrameReader, OPCODE } from '../../../loadtest/clients/frame-reader.ts';

interface Seen {
  readonly messages: number[];
  readonly controls: [number, string][];
}

/** Reads frames in chunks of `size` bytes. */
function readInChunks(bytes: Buffer, size: number): Seen {
  const seen: Seen = { messages: [], controls: [] };
  const reader = new FrameReader({
    wantsPayload: false,
    onPayload: () => assert.fail('not wanted'),
    onMessage: (length) => seen.messages.push(length),
    onControl: (opcode, payload) => seen.controls.push([opcode, payload.toString()]),
  });
  for (let i = 0; i < bytes.length; i += size) reader.read(bytes.subarray(i, i + size));
  return seen;
}

/** A server's frame, written out after RFC 6455, section 5.2. */
function frame(first: number, payload: string): Buffer {
  const body = Buffer.from(payload);
  let header: Buffer;
  if (body.length < 126) header = Buffer.from([first, body.length]);
  else if (body.length < 65_536) header = Buffer.from([first, 126, body.length >> 8, body.length & 255]);
  else {
    header = Buffer.alloc(10);
    header[0] = first;
    header[1] = 127;
    header.writeUInt32BE(body.length, 6);
  }
  return Buffer.concat([header, body]);
}

const FINAL = 128;

describe('FrameReader', () => {
  const stream = Buffer.concat([
    frame(FINAL | OPCODE.text, ''),
    frame(FINAL | OPCODE.text, 'a'.repeat(125)),
    frame(FINAL | OPCODE.text, 'b'.repeat(126)),
    frame(OPCODE.text, 'c'.repeat(300)),
    frame(FINAL | OPCODE.ping, 'still there?'),
    frame(FINAL, 'd'.repeat(200)),
    frame(FINAL | OPCODE.text, 'e'.repeat(70_000)),
    frame(FINAL | OPCODE.pong, ''),
  ]);

  for (const size of [1, 2, 3, 7, 127, 4096, 1_000_000]) {
    it(`finds every message in chunks of ${size} bytes`, () => {
      assert.deepEqual(readInChunks(stream, size), {
        messages: [0, 125, 126, 500, 70_000],
        controls: [
          [OPCODE.ping, 'still there?'],
          [OPCODE.pong, ''],
        ],
      });
    });
  }
});
